-- name, lease ms: the request is still being answered
local key = 'idempotency:' .. ARGV[1]
if redis.call('HGET', key, 'state') ~= 'running' then return 0 end
redis.call('HSET', key, 'busy_until', steady_ms() + ARGV[2])
return 1
