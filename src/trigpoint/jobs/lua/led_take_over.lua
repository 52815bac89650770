-- id, new code, led_by, longest pause ms, silence ms, by force or not
-- -> taken | {busy, led_by, ms since its last call} | {ended, status} | {not_led, status} | nothing if there is no such review
local id, code, led_by, pause, silence, force = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local key = 'review:' .. id
local status, leader, was_led_by, led_at = unpack(redis.call('HMGET', key, 'status', 'code', 'led_by', 'led_at'))
if not status then return false end
if not leader then return {'not_led', status} end
if status ~= 'queued' and status ~= 'processing' then return {'ended', status} end
local silent = now_ms() - tonumber(led_at)
if force ~= '1' and silent >= 0 and silent < pause then return {'busy', was_led_by, silent} end
redis.call('HSET', key, 'code', code, 'led_by', led_by, 'led_at', now_ms())
if leased(id, leader) then
  redis.call('HSET', 'job:' .. id, 'token', code)
  redis.call('ZADD', 'jobs:leases', steady_ms() + silence, id)
end
return {'taken', status}
