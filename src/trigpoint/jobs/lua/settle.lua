-- id, token, how, delay ms: done (forget it) | back (as if it had not been claimed) | again (after the delay)
local id, token, how, delay = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
if not leased(id, token) then return 0 end
if how == 'done' or cancelled(id) then
  forget(id)
elseif how == 'back' then
  redis.call('HINCRBY', 'job:' .. id, 'tries', -1)
  redis.call('HDEL', 'job:' .. id, 'token', 'worker')
  redis.call('ZREM', 'jobs:leases', id)
  redis.call('ZADD', 'jobs:queued', redis.call('HGET', 'job:' .. id, 'place'), id)
  wake('jobs:wake')
else
  redis.call('HDEL', 'job:' .. id, 'token', 'worker')
  redis.call('ZADD', 'jobs:leases', steady_ms() + delay, id)
end
return 1
