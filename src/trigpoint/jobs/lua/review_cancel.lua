-- id, at, delivery_id, body -> {cancelled or not, the status before}, or nothing if there is no such review
local id, at, delivery_id, body = unpack(ARGV)
local status = redis.call('HGET', 'review:' .. id, 'status')
if not status then return false end
if status ~= 'queued' and status ~= 'processing' then return {0, status} end
set_review_status(id, 'cancelled')
redis.call('HDEL', 'review:' .. id, 'progress', 'phase')
cancel_job(id)
post(id, delivery_id, 'review.cancelled', body, at)
return {1, status}
