-- id, code, version that was read, draft -> kept | stale | lost
-- Of two calls that change the same draft, the second to come must read it again.
local id, code, version, draft = unpack(ARGV)
local key = 'review:' .. id
if not leased(id, code) or redis.call('HGET', key, 'status') ~= 'processing' then return 'lost' end
local checkpoints = key .. ':checkpoints'
local kept = redis.call('HGET', checkpoints, 'draft_version') or '0'
if kept ~= version then return 'stale' end
redis.call('HSET', checkpoints, 'draft', draft, 'draft_version', tonumber(version) + 1)
return 'kept'
