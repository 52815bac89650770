-- id, token, lease ms -> held | cancelled | lost
local id, token, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
if not leased(id, token) then return 'lost' end
redis.call('ZADD', 'jobs:leases', steady_ms() + lease, id)
if cancelled(id) then return 'cancelled' end
return 'held'
