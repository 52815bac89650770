-- url, secret, events ('' for no webhook): the webhook of the whole installation
local url, secret, events = unpack(ARGV)
local key = 'review:all:webhook'
if url == '' then
  redis.call('DEL', key)
else
  redis.call('HSET', key, 'url', url, 'secret', secret, 'events', events)
end
return 1
