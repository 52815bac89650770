-- id, token, phase, data -> 1, or 0 where it is no longer ours
local id, token, phase, data = unpack(ARGV)
if not leased(id, token) or redis.call('HGET', 'review:' .. id, 'status') ~= 'processing' then return 0 end
redis.call('HSET', 'review:' .. id .. ':checkpoints', phase, data)
return 1
