-- review id, version it is based on, at, letter, most versions kept -> {outcome, its version, current version}, or nothing without such a review
-- saved: it is the current one now. same: the current one has the same words. aside: somebody saved meanwhile; it is kept
-- next to the current one. Versions are only ever added, so that no save can lose another.
local id, based_on, at, letter, most = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
if redis.call('EXISTS', 'review:' .. id) == 0 then return false end
local key = 'review:' .. id .. ':letter'
local current = tonumber(redis.call('HGET', key, 'current') or 0)
if current > 0 and redis.call('HGET', key, 'letter:' .. current) == letter then return {'same', current, current} end
local version = redis.call('HINCRBY', key, 'last', 1)
local aside = based_on ~= current
redis.call('HSET', key, 'letter:' .. version, letter, 'at:' .. version, at, 'based_on:' .. version, based_on,
  'aside:' .. version, aside and 1 or 0)
if not aside then
  redis.call('HSET', key, 'current', version)
  current = version
end
local oldest = version - most
if oldest > 0 and oldest ~= current then
  redis.call('HDEL', key, 'letter:' .. oldest, 'at:' .. oldest, 'based_on:' .. oldest, 'aside:' .. oldest)
end
return {aside and 'aside' or 'saved', version, current}
