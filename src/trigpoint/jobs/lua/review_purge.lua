-- ms before which, most at once -> how many ended reviews were removed, with all that belongs to them
local ids = redis.call('ZRANGEBYSCORE', 'reviews:ended', '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do
  local key = 'review:' .. id
  local ref, status = unpack(redis.call('HMGET', key, 'application_ref', 'status'))
  for _, delivery_id in ipairs(redis.call('LRANGE', key .. ':deliveries', 0, -1)) do
    redis.call('DEL', 'webhook:' .. delivery_id)
  end
  redis.call('ZREM', 'reviews:all', id)
  redis.call('ZREM', 'reviews:ended', id)
  redis.call('ZREM', 'webhooks:due', id)
  if ref then
    redis.call('ZREM', 'reviews:ref:' .. ref, id)
    redis.call('ZREM', 'reviews:ref:' .. ref .. ':' .. status, id)
    redis.call('ZREM', 'reviews:status:' .. status, id)
  end
  redis.call('DEL', key, key .. ':webhook', key .. ':deliveries', key .. ':outbox', key .. ':checkpoints',
    key .. ':letter')
end
return #ids
