-- id, token, silence ms -> 1, or 0 where it is no longer ours
-- The application is ready to be judged: from here on the agent holds the job by its code. If it says nothing for
-- that long, the lease runs out and a worker ends the review.
local id, token, silence = ARGV[1], ARGV[2], tonumber(ARGV[3])
local key = 'review:' .. id
if not leased(id, token) or redis.call('HGET', key, 'status') ~= 'processing' then return 0 end
redis.call('HSET', key, 'ready', now_ms())
redis.call('HSET', 'job:' .. id, 'token', redis.call('HGET', key, 'code'), 'tries', 0)
redis.call('ZADD', 'jobs:leases', steady_ms() + silence, id)
return 1
