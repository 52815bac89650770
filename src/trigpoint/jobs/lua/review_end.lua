-- id, token, status, at, delivery_id, event, body, then fields and values -> 1, or 0 where it is no longer ours
local id, token, status, at, delivery_id, event, body = unpack(ARGV, 1, 7)
local key = 'review:' .. id
local was = redis.call('HGET', key, 'status')
if not leased(id, token) or (was ~= 'queued' and was ~= 'processing') then return 0 end
set_review_status(id, status)
redis.call('HSET', key, unpack(ARGV, 8))
redis.call('HDEL', key, 'progress', 'phase')
post(id, delivery_id, event, body, at)
forget(id)
return 1
