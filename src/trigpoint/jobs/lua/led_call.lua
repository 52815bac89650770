-- id, code, silence ms
-- -> {status, led_by, whether this code leads, ms since it is ready or -1, options, ref, authority, folder}
-- A call of the agent that leads. It keeps the review alive.
local id, code, silence = ARGV[1], ARGV[2], tonumber(ARGV[3])
local key = 'review:' .. id
local status, led_by, leader, ready, options, ref, authority, folder =
  unpack(redis.call('HMGET', key, 'status', 'led_by', 'code', 'ready', 'options', 'application_ref', 'authority', 'folder'))
if not status then return false end
local leads = leader == code
if leads and (status == 'queued' or status == 'processing') then
  redis.call('HSET', key, 'led_at', now_ms())
  if leased(id, code) then redis.call('ZADD', 'jobs:leases', steady_ms() + silence, id) end
end
local since = ready and math.max(0, now_ms() - tonumber(ready)) or -1
return {status, led_by or '', leads and 1 or 0, since, options, ref, authority or '', folder or ''}
