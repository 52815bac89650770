-- id, token, at, delivery_id, body, phase, progress -> {application_ref, options, phase_number, percent, authority, folder}, or lost
local id, token, at, delivery_id, body, phase, progress = unpack(ARGV)
local key = 'review:' .. id
local status = redis.call('HGET', key, 'status')
if not leased(id, token) or (status ~= 'queued' and status ~= 'processing') then return 'lost' end
if status == 'queued' then
  set_review_status(id, 'processing')
  redis.call('HSET', key, 'started_at', at, 'phase', phase, 'progress', progress)
  post(id, delivery_id, 'review.started', body, at)
end
return redis.call('HMGET', key, 'application_ref', 'options', 'phase_number', 'percent', 'authority', 'folder')
