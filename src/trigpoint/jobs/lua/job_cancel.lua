-- holds -> the id of the job that held the key, if there was one; it is cancelled
local id = redis.call('GET', ARGV[1])
if not id then return false end
cancel_job(id)
return id
