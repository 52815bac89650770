-- index, first, last -> {total, rows}
local rows = {}
for i, id in ipairs(redis.call('ZREVRANGE', ARGV[1], ARGV[2], ARGV[3])) do
  rows[i] = redis.call('HMGET', 'review:' .. id, 'review_id', 'application_ref', 'status', 'overall_rating',
    'created_at', 'completed_at', 'assessed')
end
return {redis.call('ZCARD', ARGV[1]), rows}
