-- id, ref, created_at, place, options, url, secret, events, request_id, authority, folder, led_by, code
-- -> the id of the review that is active: this one, or another
-- led_by is the agent that judges it, if it is not a worker, and code the proof by which that agent leads it.
local id, ref, created_at, place, options, url, secret, events, request_id, authority, folder, led_by, code = unpack(ARGV)
-- of one application of one register only one review is active; councils may use the same reference
local holds = 'reviews:active:' .. ref
if authority ~= '' then holds = holds .. '@' .. authority end
if folder ~= '' then holds = holds .. '@' .. folder end
local key = 'review:' .. id
if redis.call('EXISTS', key) == 1 then return id end  -- the reply to the first try was lost on its way
local holder = redis.call('GET', holds)
if holder then return holder end
redis.call('HSET', key, 'review_id', id, 'application_ref', ref, 'status', 'queued', 'created_at', created_at,
  'place', place, 'options', options, 'request_id', request_id, 'phase_number', 0, 'percent', 0)
if authority ~= '' then redis.call('HSET', key, 'authority', authority) end
if folder ~= '' then redis.call('HSET', key, 'folder', folder) end
if url ~= '' then redis.call('HSET', key .. ':webhook', 'url', url, 'secret', secret, 'events', events) end
redis.call('ZADD', 'reviews:all', place, id)
redis.call('ZADD', 'reviews:ref:' .. ref, place, id)
redis.call('ZADD', 'reviews:status:queued', place, id)
redis.call('ZADD', 'reviews:ref:' .. ref .. ':queued', place, id)
if led_by ~= '' then
  redis.call('HSET', key, 'led_by', led_by, 'code', code, 'led_at', now_ms())
end
enqueue(id, led_by == '' and 'review' or 'led_review', '{}', holds, request_id)
return id
