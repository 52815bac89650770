-- id, kind, payload, holds, request_id -> 1, or 0 where another job holds the key already
local id, kind, payload, holds, request_id = unpack(ARGV)
if holds ~= '' then
  local holder = redis.call('GET', holds)
  if holder and holder ~= id then return 0 end
end
if redis.call('EXISTS', 'job:' .. id) == 0 then enqueue(id, kind, payload, holds, request_id) end
return 1
