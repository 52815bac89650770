-- review_id, delivery_id -> queued | pending | missing
local review_id, delivery_id = ARGV[1], ARGV[2]
local key = 'webhook:' .. delivery_id
local owner, status = unpack(redis.call('HMGET', key, 'review_id', 'status'))
if owner ~= review_id then return 'missing' end
if status == 'pending' then return 'pending' end
redis.call('HSET', key, 'status', 'pending', 'attempts', 0)
redis.call('HDEL', key, 'next_attempt_at', 'error', 'response_status')
redis.call('RPUSH', 'review:' .. review_id .. ':outbox', delivery_id)
redis.call('ZADD', 'webhooks:due', 'NX', steady_ms(), review_id)
wake('webhooks:wake')
return 'queued'
