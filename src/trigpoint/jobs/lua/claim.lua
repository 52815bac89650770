-- worker, lease ms -> {id, token, tries, kind, payload, request_id}, or nothing
-- A job whose lease ran out comes before a new one: somebody has waited for it longer.
local worker, lease = ARGV[1], tonumber(ARGV[2])
local now = steady_ms()
while true do
  local id = redis.call('ZRANGEBYSCORE', 'jobs:leases', '-inf', now, 'LIMIT', 0, 1)[1]
    or redis.call('ZPOPMIN', 'jobs:queued')[1]
  if not id then return false end
  if redis.call('EXISTS', 'job:' .. id) == 0 or cancelled(id) then
    forget(id)
  else
    local token = redis.call('INCR', 'jobs:token')
    local tries = redis.call('HINCRBY', 'job:' .. id, 'tries', 1)
    redis.call('HSET', 'job:' .. id, 'token', token, 'worker', worker)
    redis.call('ZADD', 'jobs:leases', now + lease, id)
    local kind, payload, request_id = unpack(redis.call('HMGET', 'job:' .. id, 'kind', 'payload', 'request_id'))
    return {id, tostring(token), tries, kind, payload, request_id}
  end
end
