-- The registry's steps, each atomic. ARGV[1] names the step, ARGV[2] is its argument as JSON; the answer is JSON.
-- Contract keys: policy:{source}, policy_revision:{source}:{id}, policy_revisions:{source}, policies_all.
-- Keys of our own, beside them:
--   policy_supersessions:{source}  hash, successor's id -> what its predecessor was before (P5)
--   policy_deleting:{source}       set, revisions whose deletion has begun: they answer and count no more (P8)
--   policy_hold:{source}:{id}      the job that works on a revision; expires when the job falls silent (P9)
--   policy_progress:{source}:{id}  how far that job is
--   policy_placements:{source}:{id} hash, provision's id -> where the revision states it, as found; `_stamp`, `_sections`
--   policy_choices:{source}:{id}    hash, provision's id -> the section that a person confirmed or set
--   policy_parking:{source}:{id}    the parking standard that a person stated for the revision, as JSON
--   policy_chunks_due              hash, policies whose passages' metadata may be behind the registry -> number of changes

local OPEN = ''
local a = cjson.decode(ARGV[2])
local source = a.source

local function policy_key() return 'policy:' .. source end
local function revision_key(id) return 'policy_revision:' .. source .. ':' .. id end
local function order_key() return 'policy_revisions:' .. source end
local function supersessions_key() return 'policy_supersessions:' .. source end
local function deleting_key() return 'policy_deleting:' .. source end
local function hold_key(id) return 'policy_hold:' .. source .. ':' .. id end
local function progress_key(id) return 'policy_progress:' .. source .. ':' .. id end

local function placements_key(id) return 'policy_placements:' .. source .. ':' .. id end
local function parking_key(id) return 'policy_parking:' .. source .. ':' .. id end
local function choices_key(id) return 'policy_choices:' .. source .. ':' .. id end

local function hash(key)
  local flat, found = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do found[flat[i]] = flat[i + 1] end
  return found
end

local function given(value) return value ~= nil and value ~= cjson.null end
local function end_of(day) return day == OPEN and '9999-99-99' or day end
local function refuse(reason, detail) return { refused = reason, detail = detail } end
local function refuse_overlap(clash, from) return { refused = 'overlap', detail = clash.revision_id, effective_from = from } end

local function day_before(day)
  local y, m, d = tonumber(day:sub(1, 4)), tonumber(day:sub(6, 7)), tonumber(day:sub(9, 10))
  if d > 1 then return string.format('%04d-%02d-%02d', y, m, d - 1) end
  if m == 1 then return string.format('%04d-12-31', y - 1) end
  local days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }
  local leap = (y % 4 == 0 and y % 100 ~= 0) or y % 400 == 0
  m = m - 1
  return string.format('%04d-%02d-%02d', y, m, (m == 2 and leap) and 29 or days[m])
end

-- All revisions of the policy, oldest first, and who superseded whom.
local function load()
  local book = { list = {}, by_id = {}, before = {} }
  for _, id in ipairs(redis.call('ZRANGE', order_key(), 0, -1)) do
    local revision = hash(revision_key(id))
    revision.deleting = redis.call('SISMEMBER', deleting_key(), id) == 1
    revision.held_by = redis.call('GET', hold_key(id)) or nil
    book.list[#book.list + 1] = revision
    book.by_id[id] = revision
  end
  for successor, text in pairs(hash(supersessions_key())) do book.before[successor] = cjson.decode(text) end
  return book
end

local function stands(revision) return revision.status ~= 'failed' and not revision.deleting end

local function find(book, id)
  local revision = book.by_id[id]
  if revision and not revision.deleting then return revision end
end

local function successor_of(book, id)
  for successor, before in pairs(book.before) do
    if before.revision == id then return successor, before end
  end
end

-- The last standing revision that began before this one and can answer.
local function predecessor(book, revision)
  local found
  for _, other in ipairs(book.list) do
    local answers = other.status == 'active' or other.status == 'superseded'
    if other.effective_from < revision.effective_from and answers and not other.deleting then found = other end
  end
  return found
end

local function set(revision, field, value)
  revision[field] = value
  redis.call('HSET', revision_key(revision.revision_id), field, value)
end

local function record(book, successor, before)
  book.before[successor] = before
  if before then
    redis.call('HSET', supersessions_key(), successor, cjson.encode(before))
  else
    redis.call('HDEL', supersessions_key(), successor)
  end
end

local function changed()
  redis.call('HSET', policy_key(), 'updated_at', a.now)
  redis.call('HINCRBY', 'policy_chunks_due', source, 1)
end

-- The first standing revision that these dates would collide with; else the open-ended one that they supersede.
local function check_dates(book, id, from, to, may_supersede)
  local older
  for _, other in ipairs(book.list) do
    if stands(other) and other.revision_id ~= id then
      if may_supersede and other.effective_to == OPEN and other.effective_from < from then
        older = other
      elseif other.effective_from <= end_of(to) and from <= end_of(other.effective_to) then
        return other, nil
      end
    end
  end
  return nil, older
end

local function supersede(book, older, successor, from)
  record(book, successor, { revision = older.revision_id, effective_to = older.effective_to, status = older.status })
  set(older, 'effective_to', day_before(from))
  if older.status == 'active' then set(older, 'status', 'superseded') end
end

-- Give a predecessor its dates back, up to the next standing revision.
local function restore(book, older, before)
  local following
  for _, other in ipairs(book.list) do
    if stands(other) and other.effective_from > older.effective_from then following = other break end
  end
  if following and end_of(before.effective_to) >= following.effective_from then
    set(older, 'effective_to', day_before(following.effective_from))
    record(book, following.revision_id, before)
    return
  end
  set(older, 'effective_to', before.effective_to)
  if older.status == 'superseded' and before.status ~= 'superseded' then set(older, 'status', 'active') end
end

-- A revision stops standing (it failed or is being deleted): its predecessor takes its place.
local function step_down(book, revision, gone)
  local id = revision.revision_id
  local before = book.before[id]
  local successor = successor_of(book, id)
  if before then record(book, id, nil) end
  if successor and (before or gone) then record(book, successor, nil) end
  local older = before and book.by_id[before.revision]
  if older and not older.deleting then restore(book, older, before) end
end

-- A revision that was missing between two others: asked for by name, it takes the end of the time of the earlier one.
-- Its name is kept with it (`shortens`), for when it failed and is tried again.
local function fits_into(clash, new)
  return given(new.shortens) and new.shortens == clash.revision_id and clash.effective_from < new.effective_from
    and new.effective_to ~= OPEN and new.effective_to == clash.effective_to
end

-- A failed revision that ended where its successor begins goes back between the two (never at creation: rule 4).
local function squeeze_in(book, revision, other)
  local successor, before = successor_of(book, other.revision_id)
  if not successor or other.effective_from >= revision.effective_from then return false end
  if revision.effective_to == OPEN or revision.effective_to ~= other.effective_to then return false end
  record(book, successor, { revision = revision.revision_id, effective_to = before.effective_to, status = 'active' })
  record(book, revision.revision_id, before)
  set(other, 'effective_to', day_before(revision.effective_from))
  return true
end

local NEXT = { 'file_path', 'file_size_bytes', 'version_label', 'notes' }

local function drop_replacement(revision)
  for _, field in ipairs(NEXT) do
    revision['next_' .. field] = nil
    redis.call('HDEL', revision_key(revision.revision_id), 'next_' .. field)
  end
end

local function take_replacement(revision)
  for _, field in ipairs(NEXT) do
    if revision['next_' .. field] then set(revision, field, revision['next_' .. field]) end
  end
  drop_replacement(revision)
end

local function hold(id)
  if given(a.job_id) then redis.call('SET', hold_key(id), a.job_id, 'EX', a.hold_seconds) end
end

local function let_go(id) redis.call('DEL', hold_key(id), progress_key(id)) end

local function answer(revision) return { revision = hash(revision_key(revision.revision_id)), held_by = redis.call('GET', hold_key(revision.revision_id)) or nil } end

local steps = {}

function steps.create_policy()
  if redis.call('EXISTS', policy_key()) == 1 then return refuse('policy_exists') end
  for field, value in pairs(a.fields) do redis.call('HSET', policy_key(), field, value) end
  redis.call('SADD', 'policies_all', source)
  return {}
end

function steps.update_policy()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  for field, value in pairs(a.fields) do redis.call('HSET', policy_key(), field, value) end
  changed()
  return {}
end

function steps.read()
  local found = {}
  for _, name in ipairs(given(a.sources) and a.sources or redis.call('SMEMBERS', 'policies_all')) do
    source = name
    local policy = hash(policy_key())
    if policy.source then
      local book = load()
      local revisions, before = {}, {}
      for _, revision in ipairs(book.list) do
        if not revision.deleting then revisions[#revisions + 1] = revision end
      end
      for successor, was in pairs(book.before) do before[#before + 1] = { successor = successor, was = was } end
      found[#found + 1] = { policy = policy, revisions = revisions, before = before }
    end
  end
  return { policies = found }
end

function steps.create_revision()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  local book, new = load(), a.fields
  if given(a.shorten) then new.shortens = a.shorten end
  local clash, older = check_dates(book, nil, new.effective_from, new.effective_to, true)
  local shortened = clash and fits_into(clash, new) and clash
  if clash and not shortened then return refuse_overlap(clash, new.effective_from) end
  local id, n = a.ids[1], 1
  while redis.call('EXISTS', revision_key(id)) == 1 do
    id = n == 1 and a.ids[2] or (a.ids[2] .. '_' .. n)
    n = n + 1
  end
  new.revision_id = id
  local before_mark, after_mark = new.file_path:match('^(.-){revision_id}(.*)$')
  if before_mark then new.file_path = before_mark .. id .. after_mark end
  for field, value in pairs(new) do redis.call('HSET', revision_key(id), field, value) end
  redis.call('ZADD', order_key(), a.score, id)
  if shortened and not squeeze_in(book, new, shortened) then older = shortened end
  if older then supersede(book, older, id, new.effective_from) end
  if shortened then older = shortened end
  hold(id)
  changed()
  local reply = answer(new)
  if older then reply.superseded = { revision_id = older.revision_id, effective_to = older.effective_to } end
  return reply
end

function steps.update_revision()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  local book = load()
  local revision = find(book, a.id)
  if not revision then return refuse('no_revision') end
  local from = a.fields.effective_from or revision.effective_from
  local to = a.fields.effective_to or revision.effective_to
  if end_of(to) < from then return refuse('reversed', from .. ' to ' .. to) end
  local moved = from ~= revision.effective_from or to ~= revision.effective_to
  if moved and stands(revision) then
    local clash = check_dates(book, a.id, from, to, false)
    if clash then return refuse_overlap(clash, from) end
  end
  if to ~= revision.effective_to then
    local successor = successor_of(book, a.id)
    if successor then record(book, successor, nil) end -- dates given by hand replace the recorded ones
    if to == OPEN and revision.status == 'superseded' then set(revision, 'status', 'active') end
  end
  for field, value in pairs(a.fields) do set(revision, field, value) end
  if given(a.score) then redis.call('ZADD', order_key(), a.score, a.id) end
  changed()
  return answer(revision)
end

function steps.mark_active()
  local book = load()
  local revision = find(book, a.id)
  if not revision then return refuse('no_revision') end
  if given(a.job_id) and revision.held_by and revision.held_by ~= a.job_id then return refuse('held', revision.held_by) end
  if revision.status == 'failed' then return refuse('failed') end
  if revision.status == 'processing' then
    local over = successor_of(book, a.id) or given(revision.shortens) or revision.was == 'superseded'
    set(revision, 'status', over and 'superseded' or 'active')
    redis.call('HDEL', revision_key(a.id), 'was')
  end
  take_replacement(revision)
  set(revision, 'chunk_count', a.chunk_count)
  set(revision, 'page_count', a.page_count)
  set(revision, 'ingested_at', a.now)
  set(revision, 'error', '')
  let_go(a.id)
  changed()
  return answer(revision)
end

-- The end of a text that has been replaced, whether or not its successor is here. Dates given by hand stay.
function steps.mark_superseded()
  local revision = find(load(), a.id)
  if not revision then return refuse('no_revision') end
  if revision.status == 'active' and (revision.effective_to == OPEN or revision.effective_to == a.effective_to) then
    set(revision, 'effective_to', a.effective_to)
    set(revision, 'status', 'superseded')
    changed()
  end
  return answer(revision)
end

function steps.mark_failed()
  local book = load()
  local revision = find(book, a.id)
  if not revision then return refuse('no_revision') end
  if given(a.job_id) and revision.held_by and revision.held_by ~= a.job_id then return refuse('held', revision.held_by) end
  set(revision, 'error', a.error)
  drop_replacement(revision)
  if revision.status == 'processing' then
    set(revision, 'status', 'failed')
    step_down(book, revision, false)
  end
  let_go(a.id)
  changed()
  return answer(revision)
end

-- Its passages are gone and cannot be rebuilt. Its dates stay taken: no other text was in force on those days.
function steps.mark_lost()
  local revision = find(load(), a.id)
  if not revision then return refuse('no_revision') end
  if revision.status == 'active' or revision.status == 'superseded' then
    set(revision, 'was', revision.status)
    set(revision, 'status', 'failed')
    set(revision, 'error', a.error)
    changed()
  end
  return answer(revision)
end

function steps.begin_reindex()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  local book = load()
  local revision = find(book, a.id)
  if not revision then return refuse('no_revision') end
  if revision.held_by then return refuse('held', revision.held_by) end
  if revision.file_path == '' and not given(a.file_path) then return refuse('no_file') end
  if revision.status == 'failed' then
    local clash, older = check_dates(book, a.id, revision.effective_from, revision.effective_to, true)
    if clash and not squeeze_in(book, revision, clash) then
      if not fits_into(clash, revision) then return refuse_overlap(clash, revision.effective_from) end
      older = clash
    end
    if older then supersede(book, older, a.id, revision.effective_from) end
    set(revision, 'status', 'processing')
    set(revision, 'error', '')
    changed()
  end
  if given(a.file_path) then
    set(revision, 'file_path', a.file_path)
    set(revision, 'file_size_bytes', a.file_size_bytes)
  end
  redis.call('DEL', progress_key(a.id))
  hold(a.id)
  return answer(revision)
end

-- Another file for the same revision. Its own file, label and notes stay until the new text is in.
function steps.begin_replace()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  local revision = find(load(), a.id)
  if not revision then return refuse('no_revision') end
  if revision.held_by then return refuse('held', revision.held_by) end
  if revision.status ~= 'active' and revision.status ~= 'superseded' then return refuse('failed') end
  for field, value in pairs(a.fields) do set(revision, 'next_' .. field, value) end
  redis.call('DEL', progress_key(a.id))
  hold(a.id)
  return answer(revision)
end

function steps.begin_delete()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  local book = load()
  local revision = book.by_id[a.id]
  if not revision then return refuse('no_revision') end
  if revision.deleting then return answer(revision) end
  local other_active = false
  for _, other in ipairs(book.list) do
    if other ~= revision and stands(other) and other.status == 'active' then other_active = true end
  end
  local older = predecessor(book, revision)
  if revision.status == 'active' and not other_active then
    if a.restore ~= true or not older then return refuse('sole') end
    if not book.before[a.id] then
      record(book, a.id, { revision = older.revision_id, effective_to = revision.effective_to, status = 'active' })
    end
  end
  redis.call('SADD', deleting_key(), a.id)
  revision.deleting = true
  step_down(book, revision, true)
  let_go(a.id)
  changed()
  local reply = answer(revision)
  if a.restore == true and older then reply.restored = older.revision_id end
  return reply
end

function steps.finish_delete()
  redis.call('DEL', revision_key(a.id))
  redis.call('ZREM', order_key(), a.id)
  redis.call('SREM', deleting_key(), a.id)
  redis.call('DEL', placements_key(a.id), choices_key(a.id), parking_key(a.id))
  let_go(a.id)
  return {}
end

-- Where the provisions are, as found in the text that was ingested at `ingested_at`. Nothing if that text is gone.
function steps.put_placements()
  local revision = find(load(), a.id)
  if not revision or revision.ingested_at ~= a.ingested_at then return { put = false } end
  redis.call('DEL', placements_key(a.id))
  for field, value in pairs(a.fields) do redis.call('HSET', placements_key(a.id), field, value) end
  return { put = true }
end

-- A person's word on one provision; without `choice` it is taken back. Later revisions are found again in its light.
function steps.choose_section()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  if not find(load(), a.id) then return refuse('no_revision') end
  if given(a.choice) then
    redis.call('HSET', choices_key(a.id), a.provision, a.choice)
  else
    redis.call('HDEL', choices_key(a.id), a.provision)
  end
  changed()
  return {}
end

-- The parking standard of a revision; without `standard` it is taken away.
function steps.put_parking()
  if redis.call('EXISTS', policy_key()) == 0 then return refuse('no_policy') end
  if not find(load(), a.id) then return refuse('no_revision') end
  if given(a.standard) then
    redis.call('SET', parking_key(a.id), a.standard)
  else
    redis.call('DEL', parking_key(a.id))
  end
  return {}
end

function steps.read_parking()
  return { standard = redis.call('GET', parking_key(a.id)) or nil }
end

function steps.read_placements()
  local found = {}
  for _, id in ipairs(a.ids) do
    found[#found + 1] = { id = id, placements = hash(placements_key(id)), choices = hash(choices_key(id)) }
  end
  return { placements = found }
end

function steps.deleting()
  local found = {}
  for _, name in ipairs(redis.call('SMEMBERS', 'policies_all')) do
    source = name
    for _, id in ipairs(redis.call('SMEMBERS', deleting_key())) do found[#found + 1] = { name, id } end
  end
  return { deleting = found }
end

function steps.settle()
  if redis.call('HGET', 'policy_chunks_due', source) == a.seen then redis.call('HDEL', 'policy_chunks_due', source) end
  return {}
end

function steps.hold()
  if redis.call('GET', hold_key(a.id)) ~= a.job_id and redis.call('EXISTS', hold_key(a.id)) == 1 then return { held = false } end
  if redis.call('EXISTS', revision_key(a.id)) == 0 then return { held = false } end
  hold(a.id)
  if given(a.progress) then
    redis.call('HSET', progress_key(a.id), 'phase', a.progress.phase, 'percent_complete', a.progress.percent_complete, 'chunks_processed', a.progress.chunks_processed)
    redis.call('EXPIRE', progress_key(a.id), 86400)
  end
  return { held = true }
end

return cjson.encode(steps[ARGV[1]]())
