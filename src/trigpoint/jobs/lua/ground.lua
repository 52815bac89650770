-- Shared by every script: the clock, the queue, the reviews' indexes, the webhooks' outbox.
-- Put before each script's own text; a script runs as one step, so whatever it changes changes together.

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Milliseconds that only go forward, and by at most five seconds from one look to the next. Leases and retries are
-- counted in these, so that a clock that is set back or forward neither blocks a job nor takes it from its worker.
-- A worker looks every second; while nobody looks, nothing can run out.
local function steady_ms()
  local wall = now_ms()
  local seen, steady = unpack(redis.call('HMGET', 'clock', 'wall', 'steady'))
  if not seen then
    redis.call('HSET', 'clock', 'wall', wall, 'steady', wall)
    return wall
  end
  local passed = math.min(math.max(wall - seen, 0), 5000)
  if passed >= 200 or wall < tonumber(seen) then
    redis.call('HSET', 'clock', 'wall', wall, 'steady', steady + passed)
  end
  return steady + passed
end

local function wake(list)
  redis.call('LPUSH', list, '1')
  redis.call('LTRIM', list, 0, 31)
  redis.call('EXPIRE', list, 60)
end

-- A job with `holds` keeps that key for itself from here until it is forgotten.
local function enqueue(id, kind, payload, holds, request_id)
  local place = redis.call('INCR', 'jobs:place')
  redis.call('HSET', 'job:' .. id, 'kind', kind, 'payload', payload, 'holds', holds,
    'request_id', request_id, 'tries', 0, 'place', place)
  if holds ~= '' then redis.call('SET', holds, id) end
  redis.call('ZADD', 'jobs:queued', place, id)
  wake('jobs:wake')
end

local function let_go(id)
  local holds = redis.call('HGET', 'job:' .. id, 'holds')
  if holds and holds ~= '' and redis.call('GET', holds) == id then redis.call('DEL', holds) end
end

local function forget(id)
  let_go(id)
  redis.call('ZREM', 'jobs:queued', id)
  redis.call('ZREM', 'jobs:leases', id)
  redis.call('DEL', 'job:' .. id)
end

local function leased(id, token)
  return redis.call('HGET', 'job:' .. id, 'token') == token
end

local function cancelled(id)
  return redis.call('HGET', 'job:' .. id, 'cancelled') == '1'
end

-- A queued job goes at once; a running one is marked, and its worker lets it go at the next heartbeat.
local function cancel_job(id)
  if redis.call('ZSCORE', 'jobs:leases', id) then
    let_go(id)
    redis.call('HSET', 'job:' .. id, 'cancelled', '1')
  else
    forget(id)
  end
end

local function set_review_status(id, status)
  local key = 'review:' .. id
  local was, ref, place = unpack(redis.call('HMGET', key, 'status', 'application_ref', 'place'))
  redis.call('HSET', key, 'status', status)
  redis.call('ZREM', 'reviews:status:' .. was, id)
  redis.call('ZREM', 'reviews:ref:' .. ref .. ':' .. was, id)
  redis.call('ZADD', 'reviews:status:' .. status, place, id)
  redis.call('ZADD', 'reviews:ref:' .. ref .. ':' .. status, place, id)
  if status ~= 'queued' and status ~= 'processing' then
    redis.call('ZADD', 'reviews:ended', now_ms(), id)
    redis.call('DEL', key .. ':checkpoints')
  end
end

-- Puts an event into an owner's outbox if its webhook asked for it. The owner is a review, or 'all' for the webhook
-- that is configured for the whole installation; of the latter's log the newest 1,000 entries are kept.
local function deliver(owner, review_id, delivery_id, event, body, at)
  local events = redis.call('HGET', 'review:' .. owner .. ':webhook', 'events')
  if not events or not string.find(events, '|' .. event .. '|', 1, true) then return end
  redis.call('HSET', 'webhook:' .. delivery_id, 'delivery_id', delivery_id, 'review_id', owner,
    'event', event, 'body', body, 'status', 'pending', 'attempts', 0, 'created_at', at)
  local deliveries = 'review:' .. owner .. ':deliveries'
  redis.call('RPUSH', deliveries, delivery_id)
  if owner == 'all' and redis.call('LLEN', deliveries) > 1000 then
    local oldest = redis.call('LINDEX', deliveries, 0)
    if redis.call('HGET', 'webhook:' .. oldest, 'status') ~= 'pending' then
      redis.call('LPOP', deliveries)
      redis.call('DEL', 'webhook:' .. oldest)
    end
  end
  redis.call('RPUSH', 'review:' .. owner .. ':outbox', delivery_id)
  redis.call('ZADD', 'webhooks:due', 'NX', steady_ms(), owner)
  wake('webhooks:wake')
end

-- Records an event in the feed, and puts it into the outboxes of the webhooks that asked for it.
local function post(review_id, delivery_id, event, body, at)
  redis.call('XADD', 'events', 'MAXLEN', '~', 10000, '*', 'body', body)
  deliver(review_id, review_id, delivery_id, event, body, at)
  deliver('all', review_id, delivery_id .. '_all', event, body, at)
end
