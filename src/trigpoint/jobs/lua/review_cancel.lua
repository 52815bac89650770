-- id -> {cancelled or not, the status before}, or nothing where there is no such review
local id = ARGV[1]
local status = redis.call('HGET', 'review:' .. id, 'status')
if not status then return false end
if status ~= 'queued' and status ~= 'processing' then return {0, status} end
set_review_status(id, 'cancelled')
redis.call('HDEL', 'review:' .. id, 'progress', 'phase')
cancel_job(id)
return {1, status}
