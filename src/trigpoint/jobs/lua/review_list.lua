-- index, first, last -> {total, rows}
local rows = {}
for i, id in ipairs(redis.call('ZREVRANGE', ARGV[1], ARGV[2], ARGV[3])) do
  local row = redis.call('HMGET', 'review:' .. id, 'review_id', 'application_ref', 'status', 'overall_rating',
    'created_at', 'completed_at', 'assessed', 'model', 'led_by')
  row[8] = row[8] or row[9]  -- while an agent judges, it is the model
  row[9] = nil
  rows[i] = row
end
return {redis.call('ZCARD', ARGV[1]), rows}
