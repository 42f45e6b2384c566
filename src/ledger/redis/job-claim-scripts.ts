import { CLOCK_SLACK_MS, LONGEST_WAIT_MS } from '../leases/clock-set-back.js'
import type { StoreScript } from './redis-scripts.js'

/** Begins every claim. A claim that is sent again, because its answer was lost, gets the same job with a fresh lease. */
const CLAIMING = `
freeExpired()
local function claimedBefore(id, key, leaseMs)
  redis.call('ZADD', own .. 'leases', string.format('%.0f', now + tonumber(leaseMs)), id)
  return { 'claimed', nowText, read(key) }
end`

/** Makes jobs ready that were delayed before the clock was set back. Records the time now and then to detect that. */
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

/** Our scripts that claim jobs. */
export const JOB_CLAIM_SCRIPTS = {
  /** A[1] key, A[2] token, A[3] holder, A[4] lease in ms. */
  claim: {
    lua: `${CLAIMING}
local id = redis.call('HGET', own .. 'keys', A[1])
if not id then return { 'unknown' } end
local number, base, key = locate(id)
if not number or redis.call('EXISTS', key) == 0 then return { 'unknown' } end
local status = redis.call('HGET', key, '_status')
if not OPEN[status] then return { 'ended', nowText, read(key) } end
if redis.call('HGET', key, '_token') == A[2] then return claimedBefore(id, key, A[4]) end
if redis.call('ZSCORE', own .. 'leases', id) then return { 'held', nowText, read(key) } end
-- Move the job into BullMQ's active list, as moveToActive does with the first of a queue.
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

  /** A[1] token, A[2] holder, A[3] lease in ms, A[4] number of wanted groups ('' for all), those groups, excluded groups. */
  claimNext: {
    bull: ['moveToActive'],
    lua: `${CLAIMING}
local taken = redis.call('HGET', own .. 'claims', A[1])
if taken then
  local _, _, key = locate(taken)
  return claimedBefore(taken, key, A[3])
end
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

  /** Frees a job of a dead holder. A[1] id, A[2] holder, which must still hold it. */
  freeDead: {
    lua: `
if redis.call('HGET', own .. 'holders', A[1]) == A[2] then free(A[1]) return 1 end
return 0`,
  },
} as const satisfies Record<string, StoreScript>
