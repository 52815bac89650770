-- name, fingerprint, reserved id, lease ms, kept ms
-- -> {mine, reserved id} | {done, status, type, body, hash of the form or ''} | {running} | {other}
-- A request that broke off gives its reserved id to the next one with the same key.
local key, fingerprint, reserved, lease, kept = 'idempotency:' .. ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local known, state, id, busy_until, status, kind, body, form =
  unpack(redis.call('HMGET', key, 'fingerprint', 'state', 'reserved', 'busy_until', 'status', 'type', 'body', 'form'))
if known and known ~= fingerprint then return {'other'} end
if state == 'done' then return {'done', status, kind, body, form or ''} end
if state == 'running' and tonumber(busy_until) > steady_ms() then return {'running'} end
redis.call('HSET', key, 'fingerprint', fingerprint, 'state', 'running', 'reserved', id or reserved,
  'busy_until', steady_ms() + lease)
redis.call('PEXPIRE', key, kept)
return {'mine', id or reserved}
