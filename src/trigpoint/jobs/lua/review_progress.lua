-- id, token, at, phase, phase_number, percent, progress, delivery_id, body -> kept | lost
-- Progress never goes back: a try that starts again reports what is already known.
local id, token, at, phase, number, percent, progress, delivery_id, body = unpack(ARGV)
local key = 'review:' .. id
local status, was_number, was_percent = unpack(redis.call('HMGET', key, 'status', 'phase_number', 'percent'))
if not leased(id, token) or status ~= 'processing' then return 'lost' end
if tonumber(number) < tonumber(was_number) or tonumber(percent) < tonumber(was_percent) then return 'kept' end
redis.call('HSET', key, 'phase', phase, 'phase_number', number, 'percent', percent, 'progress', progress)
if tonumber(number) > tonumber(was_number) then post(id, delivery_id, 'review.progress', body, at) end
return 'kept'
