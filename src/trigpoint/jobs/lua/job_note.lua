-- id, token, progress -> 1, or 0 where it is no longer ours
if not leased(ARGV[1], ARGV[2]) then return 0 end
redis.call('HSET', 'job:' .. ARGV[1], 'progress', ARGV[3])
return 1
