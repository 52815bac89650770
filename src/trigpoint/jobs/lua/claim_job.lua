-- id, worker, lease ms -> {token, tries, kind, payload, request_id}, or nothing if another worker has it or it is gone
local id, worker, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now = steady_ms()
local held_until = redis.call('ZSCORE', 'jobs:leases', id)
if redis.call('EXISTS', 'job:' .. id) == 0 or cancelled(id) then return false end
if held_until and tonumber(held_until) > now then return false end
redis.call('ZREM', 'jobs:queued', id)
local token = redis.call('INCR', 'jobs:token')
local tries = redis.call('HINCRBY', 'job:' .. id, 'tries', 1)
redis.call('HSET', 'job:' .. id, 'token', token, 'worker', worker)
redis.call('ZADD', 'jobs:leases', now + lease, id)
local kind, payload, request_id = unpack(redis.call('HMGET', 'job:' .. id, 'kind', 'payload', 'request_id'))
return {tostring(token), tries, kind, payload, request_id}
