-- name, status, type, body, hash of the form or ''; status '' lets the next request with this key try again
local key = 'idempotency:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return 0 end
if ARGV[2] == '' then
  redis.call('HSET', key, 'busy_until', 0)
else
  redis.call('HSET', key, 'state', 'done', 'status', ARGV[2], 'type', ARGV[3], 'body', ARGV[4], 'form', ARGV[5])
end
return 1
