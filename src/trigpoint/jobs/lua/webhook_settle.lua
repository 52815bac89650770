-- review_id, token, delivery_id, outcome (delivered | failed | pending), delay ms, at, next_at, response status, error
local review_id, token, delivery_id, outcome, delay, at, next_at, response, problem = unpack(ARGV)
local key = 'webhook:' .. delivery_id
if redis.call('HGET', key, 'token') ~= token then return 0 end
redis.call('HINCRBY', key, 'attempts', 1)
redis.call('HDEL', key, 'token')
redis.call('HSET', key, 'status', outcome, 'last_attempt_at', at, 'next_attempt_at', next_at,
  'response_status', response, 'error', problem)
if outcome == 'delivered' then redis.call('HSET', key, 'delivered_at', at) end
if outcome == 'pending' then
  redis.call('ZADD', 'webhooks:due', steady_ms() + delay, review_id)
  return 1
end
local outbox = 'review:' .. review_id .. ':outbox'
redis.call('LPOP', outbox)
if redis.call('LLEN', outbox) == 0 then
  redis.call('ZREM', 'webhooks:due', review_id)
else
  redis.call('ZADD', 'webhooks:due', steady_ms(), review_id)
  wake('webhooks:wake')
end
return 1
