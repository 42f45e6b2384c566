import { LONGEST_WAIT_MS } from '../leases/clock-set-back.js'
import { JOB_READS } from './job-reads.js'
import type { StoreScript } from './redis-scripts.js'

/** Checks the lease of a write. A call that is sent again, because its answer was lost, changes nothing. */
const LEASED = `
local id, token, call = A[1], A[2], A[3]
local number, base, key = locate(id)
if not number or redis.call('EXISTS', key) == 0 then return { 'lost', '' } end
if redis.call('HGET', key, '_call') == call then return { 'ok', nowText, read(key) } end
if redis.call('HGET', key, '_token') ~= token then return { 'lost', id, read(key) } end
local function write(from)
  local fields = { '_call', call, '_updated', nowText }
  for i = from, #A do fields[#fields + 1] = A[i] end
  redis.call('HSET', key, unpack(fields))
end
`

/** Ends a lease. BullMQ moves the job out of its active list. A[4] status, A[5] earliest time of the next claim, or ''. */
const LEAVE = `${LEASED}
-- BullMQ checks its own lock too. Make it agree with the lease that was just checked.
redis.call('SET', key .. ':lock', token, 'PX', LOCK_MS)
local moved = runBull()
if type(moved) == 'number' and moved < 0 then return redis.error_reply('BULL ' .. moved) end
dropLease(id, key)
setStatus(number, key, id, A[4])
if A[5] == '' then redis.call('HDEL', key, '_notBefore') else redis.call('HSET', key, '_notBefore', A[5]) end
if A[4] == 'done' or A[4] == 'skipped' then redis.call('HDEL', key, '_error') end
write(6)
return { 'ok', nowText, read(key) }`

/** Our scripts over jobs, except claims (see `job-claim-scripts.ts`). */
export const JOB_SCRIPTS = {
  ...JOB_READS,

  /** Returns the number of a group. A[1] its name, A[2] its queue. */
  group: {
    lua: `
local number = redis.call('HGET', own .. 'numbers', A[1])
if not number then
  number = redis.call('INCR', own .. 'lastNumber') .. ''
  redis.call('HSET', own .. 'numbers', A[1], number)
end
redis.call('HSET', own .. 'groups', number, A[1])
redis.call('HSET', own .. 'queues', number, A[2])
redis.call('HSETNX', P .. ':' .. A[2] .. ':meta', 'opts.maxLenEvents', 100)
return number`,
  },

  /** A[1] key, A[2] id; fields follow. */
  enqueue: {
    bull: ['addPrioritizedJob', 'addDelayedJob'],
    lua: `
local known = redis.call('HGET', own .. 'keys', A[1])
if known then
  local _, _, key = locate(known)
  if key and redis.call('EXISTS', key) == 1 then
    -- The same id: this call was sent again, because its answer was lost.
    return { known == A[2] and 'created' or 'known', nowText, read(key) }
  end
end
local id = A[2]
local number, base, key = locate(id)
runBull()
redis.call('HSET', own .. 'keys', A[1], id)
local fields = { '_id', id, '_attempts', 0, '_updated', nowText }
for i = 3, #A do fields[#fields + 1] = A[i] end
redis.call('HSET', key, unpack(fields))
setStatus(number, key, id, 'queued')
redis.call('ZADD', own .. 'inputs', 0, inputEntry(key, id))
redis.call('ZADD', own .. 'turns', 'NX', 0, number)
return { 'created', nowText, read(key) }`,
  },

  /** A[4] lease in ms. */
  heartbeat: {
    lua: `${LEASED}
redis.call('ZADD', own .. 'leases', string.format('%.0f', now + tonumber(A[4])), id)
redis.call('SET', key .. ':lock', token, 'PX', LOCK_MS)
return { 'ok', nowText }`,
  },

  /** A[4] status or ''; fields follow. */
  checkpoint: {
    lua: `${LEASED}
if A[4] ~= '' then setStatus(number, key, id, A[4]) end
redis.call('ZREM', own .. 'inputs', inputEntry(key, id))
write(5)
redis.call('ZADD', own .. 'inputs', 0, inputEntry(key, id))
return { 'ok', nowText, read(key) }`,
  },

  finish: { bull: ['moveToFinished'], lua: `bullArgs[2] = nowText\n${LEAVE}` },
  delay: { bull: ['moveToDelayed'], lua: LEAVE },
  giveBack: { bull: ['moveJobFromActiveToWait'], lua: LEAVE },

  setPriority: {
    bull: ['changePriority'],
    lua: `
local _, _, key = locate(A[1])
if not key or redis.call('EXISTS', key) == 0 then return {} end
runBull()
redis.call('HSET', key, '_updated', nowText)
return read(key)`,
  },

  requeue: {
    lua: `
freeExpired()
local id = A[1]
local number, base, key = locate(id)
if not number or redis.call('EXISTS', key) == 0 then return {} end
if redis.call('ZSCORE', own .. 'leases', id) then return read(key) end
if not OPEN[redis.call('HGET', key, '_status')] then
  -- Like BullMQ's reprocessJob, but from completed or failed, and to the front of its priority.
  redis.call('ZREM', base .. 'completed', id)
  redis.call('ZREM', base .. 'failed', id)
  redis.call('HDEL', key, 'finishedOn', 'processedOn', 'returnvalue', 'failedReason')
  redis.call('HSET', key, '_attempts', 0)
  setStatus(number, key, id, 'queued')
  makeReady(base, key, id)
elseif redis.call('ZREM', base .. 'delayed', id) == 1 then
  makeReady(base, key, id)
end
redis.call('HDEL', key, '_notBefore')
redis.call('HSET', key, '_updated', nowText)
return read(key)`,
  },

  /**
   * A[1] limit, A[2] shortest age of the delay in ms, A[3] number of codes, and the codes. Then '' for all groups, or '1'
   * and the names of some.
   */
  hasten: {
    lua: `
if redis.call('HEXISTS', own .. 'pauses', '') == 1 then return 0 end
local limit, latest, last = tonumber(A[1]), now - tonumber(A[2]), 3 + tonumber(A[3])
local codes, wanted = {}, {}
for i = 4, last do codes[A[i]] = true end
for i = last + 2, #A do wanted[A[i]] = true end
local found = {}
for _, number in ipairs(redis.call('HKEYS', own .. 'groups')) do
  local group = redis.call('HGET', own .. 'groups', number)
  local base = P .. ':' .. (redis.call('HGET', own .. 'queues', number) or '') .. ':'
  local isMeant = (A[last + 1] == '' or wanted[group]) and redis.call('HEXISTS', own .. 'pauses', group) == 0
  local from, here = 0, 0
  while isMeant and here < limit do
    local page = redis.call('ZRANGE', base .. 'delayed', from, from + 499, 'WITHSCORES')
    for i = 1, #page, 2 do
      local key = base .. page[i]
      local job = redis.call('HMGET', key, '_status', '_attempts', '_updated', '_notBefore', '_error')
      local updated, due = tonumber(job[3] or ''), tonumber(job[4] or '')
      if job[1] == 'queued' and tonumber(job[2] or '0') > 0 and updated and updated <= latest
        and due and due - updated <= ${LONGEST_WAIT_MS} and job[5] and codes[cjson.decode(job[5]).code] then
        found[#found + 1] = { base = base, key = key, id = page[i], due = tonumber(page[i + 1]) }
        here = here + 1
        if here == limit then break end
      end
    end
    if #page < 1000 then break end
    from = from + 500
  end
end
table.sort(found, function(a, b) return a.due < b.due or (a.due == b.due and a.id < b.id) end)
for i = 1, math.min(limit, #found) do
  local job = found[i]
  redis.call('ZREM', job.base .. 'delayed', job.id)
  redis.call('HDEL', job.key, '_notBefore')
  makeReady(job.base, job.key, job.id)
end
return math.min(limit, #found)`,
  },

  /** A[1] id, A[2] key, A[3] '1' to forget only a job that ended before A[4]. */
  forget: {
    bull: ['removeJob'],
    lua: `
freeExpired()
local id = A[1]
local number, base, key = locate(id)
if not number or redis.call('EXISTS', key) == 0 or redis.call('ZSCORE', own .. 'leases', id) then return 0 end
local status = redis.call('HGET', key, '_status')
if A[3] == '1' and (OPEN[status] or tonumber(redis.call('HGET', key, '_updated')) >= tonumber(A[4])) then return 0 end
local entry = inputEntry(key, id)
if runBull() ~= 1 then return 0 end
redis.call('HDEL', own .. 'keys', A[2])
redis.call('ZREM', own .. 'inputs', entry)
redis.call('ZREM', own .. 'index:' .. number .. ':' .. status, id)
return 1`,
  },

  pause: {
    lua: `
local since = nowText
local before = redis.call('HGET', own .. 'pauses', A[1])
if before then since = string.match(before, '^%d+') end
redis.call('HSET', own .. 'pauses', A[1], since .. ' ' .. A[2])
return 1`,
  },
  resume: { lua: `return redis.call('HDEL', own .. 'pauses', A[1])` },
  pauses: { lua: `return redis.call('HGETALL', own .. 'pauses')` },
} as const satisfies Record<string, StoreScript>
