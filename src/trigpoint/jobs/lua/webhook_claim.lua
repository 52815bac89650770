-- lease ms -> {review_id, token, delivery_id, event, body, attempts, url, secret}, or nothing
-- One delivery at a time for each review, its oldest: that keeps them in order.
local now = steady_ms()
while true do
  local review_id = redis.call('ZRANGEBYSCORE', 'webhooks:due', '-inf', now, 'LIMIT', 0, 1)[1]
  if not review_id then return false end
  local key = 'review:' .. review_id
  local delivery_id = redis.call('LINDEX', key .. ':outbox', 0)
  local url, secret = unpack(redis.call('HMGET', key .. ':webhook', 'url', 'secret'))
  if not delivery_id or not url then
    redis.call('ZREM', 'webhooks:due', review_id)
  else
    local token = tostring(redis.call('INCR', 'webhooks:token'))
    redis.call('HSET', 'webhook:' .. delivery_id, 'token', token)
    redis.call('ZADD', 'webhooks:due', now + ARGV[1], review_id)
    local event, body, attempts = unpack(redis.call('HMGET', 'webhook:' .. delivery_id, 'event', 'body', 'attempts'))
    return {review_id, token, delivery_id, event, body, attempts, url, secret}
  end
end
