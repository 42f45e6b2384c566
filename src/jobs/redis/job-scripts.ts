import { CLOCK_SLACK_MS, LONGEST_WAIT_MS } from '../clock-set-back.js'
import { JOB_READS } from './job-reads.js'
import type { StoreScript } from './redis-scripts.js'

/** Checks the lease of a write. A call that was answered but not heard, and is sent again, has been done already. */
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

/** Ends a lease; BullMQ moves the job out of its active list. A[4] status, A[5] time not to be claimed before, or ''. */
const LEAVE = `${LEASED}
-- BullMQ checks its own lock as well: it agrees with the lease that was just checked.
redis.call('SET', key .. ':lock', token, 'PX', LOCK_MS)
local moved = runBull()
if type(moved) == 'number' and moved < 0 then return redis.error_reply('BULL ' .. moved) end
dropLease(id, key)
setStatus(number, key, id, A[4])
if A[5] == '' then redis.call('HDEL', key, '_notBefore') else redis.call('HSET', key, '_notBefore', A[5]) end
if A[4] == 'done' or A[4] == 'skipped' then redis.call('HDEL', key, '_error') end
write(6)
return { 'ok', nowText, read(key) }`

/** Makes the jobs ready that were put off by a clock that was set back since; the time is noted now and then. */
const WAKE_SET_BACK = `
local clock = tonumber(redis.call('GET', own .. 'clock') or '0')
local isSetBack = now < clock - ${CLOCK_SLACK_MS}
if isSetBack or now > clock + ${CLOCK_SLACK_MS / 2} then redis.call('SET', own .. 'clock', nowText) end
if isSetBack then
  for _, queue in ipairs(redis.call('HVALS', own .. 'queues')) do
    local base = P .. ':' .. queue .. ':'
    for _, id in ipairs(redis.call('ZRANGE', base .. 'delayed', 0, -1)) do
      local found = redis.call('HMGET', base .. id, '_updated', '_notBefore', '_attempts')
      local updated, due, attempts = tonumber(found[1] or ''), tonumber(found[2] or ''), tonumber(found[3] or '')
      if updated and due and attempts and attempts > 0 and updated > now + ${CLOCK_SLACK_MS}
        and due - updated <= ${LONGEST_WAIT_MS} then
        redis.call('ZREM', base .. 'delayed', id)
        redis.call('HDEL', base .. id, '_notBefore')
        makeReady(base, base .. id, id)
      end
    end
  end
end`

/** Our scripts over jobs. */
export const JOB_SCRIPTS = {
  ...JOB_READS,

  /** A group's number: A[1] its name, A[2] its queue. */
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
    -- The same id: this very call, sent again because its answer was not heard.
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

  /** A[1] key, A[2] token, A[3] holder, A[4] lease in ms. */
  claim: {
    lua: `
freeExpired()
local id = redis.call('HGET', own .. 'keys', A[1])
if not id then return { 'unknown' } end
local number, base, key = locate(id)
if not number or redis.call('EXISTS', key) == 0 then return { 'unknown' } end
local status = redis.call('HGET', key, '_status')
if not OPEN[status] then return { 'ended', nowText, read(key) } end
if redis.call('HGET', key, '_token') == A[2] then return { 'claimed', nowText, read(key) } end
if redis.call('ZSCORE', own .. 'leases', id) then return { 'held', nowText, read(key) } end
-- From wherever it waits into BullMQ's active list, as its moveToActive does with the first of a queue.
redis.call('ZREM', base .. 'prioritized', id)
redis.call('ZREM', base .. 'delayed', id)
redis.call('LREM', base .. 'wait', 0, id)
redis.call('LPUSH', base .. 'active', id)
redis.call('SET', key .. ':lock', A[2], 'PX', LOCK_MS)
redis.call('HSET', key, 'processedOn', nowText)
redis.call('HINCRBY', key, 'ats', 1)
redis.call('XADD', base .. 'events', '*', 'event', 'active', 'jobId', id, 'prev', 'waiting')
take(number, key, id, A[2], A[3], tonumber(A[4]))
return { 'claimed', nowText, read(key) }`,
  },

  /** A[1] token, A[2] holder, A[3] lease in ms, A[4] how many groups are wanted, '' for all; they follow, then others. */
  claimNext: {
    bull: ['moveToActive'],
    lua: `
freeExpired()
${WAKE_SET_BACK}
if redis.call('HEXISTS', own .. 'pauses', '') == 1 then return { 'none' } end
local wanted, unwanted = {}, {}
for i = 5, #A do
  if A[4] ~= '' and i - 4 <= tonumber(A[4]) then wanted[A[i]] = true else unwanted[A[i]] = true end
end
local best
for _, number in ipairs(redis.call('ZRANGE', own .. 'turns', 0, -1)) do
  local group = redis.call('HGET', own .. 'groups', number)
  local queue = redis.call('HGET', own .. 'queues', number)
  if group and queue and (A[4] == '' or wanted[group]) and not unwanted[group]
    and redis.call('HEXISTS', own .. 'pauses', group) == 0 then
    local base = P .. ':' .. queue .. ':'
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. 'delayed', 0, (now + 1) * 0x1000 - 1, 'LIMIT', 0, 1000)) do
      redis.call('ZREM', base .. 'delayed', id)
      redis.call('HDEL', base .. id, '_notBefore')
      makeReady(base, base .. id, id)
    end
    local head = redis.call('ZRANGE', base .. 'prioritized', 0, 0, 'WITHSCORES')
    if #head > 0 then
      local served = tonumber(redis.call('ZSCORE', own .. 'turns', number))
      local found = { number = number, queue = queue, base = base, id = head[1], served = served,
                      priority = math.floor(tonumber(head[2]) / 0x100000000) }
      -- BullMQ's lowest number is the highest priority.
      if not best or found.priority < best.priority or (found.priority == best.priority
        and (found.served < best.served or (found.served == best.served and found.id < best.id))) then best = found end
    end
  end
end
if not best then return { 'none' } end
bullArgs[2] = nowText
local id = runBull(best.queue)[2]
if id == 0 then return { 'none' } end
redis.call('ZADD', own .. 'turns', redis.call('INCR', own .. 'turn'), best.number)
take(best.number, best.base .. id, id, A[1], A[2], tonumber(A[3]))
return { 'claimed', nowText, read(best.base .. id) }`,
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
  -- As BullMQ's reprocessJob does, but from either end and to the front of its priority.
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

  /** A[1] id, A[2] key, A[3] '1' where only what ended before A[4] goes. */
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

  /** Frees a job whose holder is known to be dead: A[1] id, A[2] holder, which still has to be it. */
  freeDead: {
    lua: `
if redis.call('HGET', own .. 'holders', A[1]) == A[2] then free(A[1]) return 1 end
return 0`,
  },
} as const satisfies Record<string, StoreScript>
