-- review_id -> rows, oldest first
local rows = {}
for i, id in ipairs(redis.call('LRANGE', 'review:' .. ARGV[1] .. ':deliveries', 0, -1)) do
  rows[i] = redis.call('HMGET', 'webhook:' .. id, 'delivery_id', 'event', 'status', 'attempts', 'created_at',
    'last_attempt_at', 'next_attempt_at', 'delivered_at', 'response_status', 'error')
end
return rows
