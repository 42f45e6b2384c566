/**
 * Begins every script. All keys have one prefix in braces, so that a Redis Cluster keeps them on one node.
 *
 * - BullMQ has one queue per group: `<prefix>:<queue>:prioritized`, `:delayed`, `:active`, `:completed`, `:failed`.
 * - BullMQ has one hash per job, `<prefix>:<queue>:<id>`. Our fields are in that hash too, with a leading `_`: `_status`,
 *   `_token` (of the lease), `_holder`, `_attempts`, `_state.<property>` and so on.
 * - `own:keys`: key of a job → id.
 * - `own:claims`: token of a lease → id.
 * - `own:groups`, `own:queues`: number of a group → its name, its queue.
 * - `own:turns`: number of a group → its last turn.
 * - `own:leases`: id → end of the lease; `own:holders`: id → holder.
 * - `own:pauses`: group → start and reason.
 * - `own:clock`: approximate time of the last claim.
 * - `own:inputs`, `own:index:<number>:<status>`: sorted sets of ids, from which jobs are listed and counted.
 *
 * An id is a ULID and the number of its group. It sorts by time and names its queue.
 */
export const LUA_PRELUDE = `
local P = ARGV[1]
local own = P .. ':own:'
local now = tonumber(ARGV[2])
if not now then
  -- Use the clock of Redis, because the clocks of the workers may differ.
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local nowText = string.format('%.0f', now)
local count = tonumber(ARGV[3])
local A, bullKeys, bullArgs = {}, {}, {}
for i = 1, count do A[i] = ARGV[3 + i] end
for i = 2, #KEYS do bullKeys[i - 1] = KEYS[i] end
for i = 4 + count, #ARGV do bullArgs[#bullArgs + 1] = ARGV[i] end

local LOCK_MS = 86400000
local OPEN = { queued = true, working = true, ['waiting-remote'] = true }

local function locate(id)
  local number = string.match(id, '%-(%d+)$')
  local queue = number and redis.call('HGET', own .. 'queues', number)
  if not queue then return nil end
  local base = P .. ':' .. queue .. ':'
  return number, base, base .. id
end

-- Runs BullMQ's script. A queue replaces the placeholder ANY_QUEUE in its keys and arguments.
local function runBull(queue)
  local keys, args = bullKeys, bullArgs
  if queue then
    keys, args = {}, {}
    local function named(value)
      local from, to = string.find(value, 'voxmux-any-queue', 1, true)
      if not from then return value end
      return string.sub(value, 1, from - 1) .. queue .. string.sub(value, to + 1)
    end
    for i, key in ipairs(bullKeys) do keys[i] = named(key) end
    for i, arg in ipairs(bullArgs) do args[i] = named(arg) end
  end
  return bull(keys, args)
end

local function setStatus(number, key, id, status)
  local before = redis.call('HGET', key, '_status')
  if before ~= status then
    if before then redis.call('ZREM', own .. 'index:' .. number .. ':' .. before, id) end
    redis.call('ZADD', own .. 'index:' .. number .. ':' .. status, 0, id)
    redis.call('HSET', key, '_status', status)
  end
end

-- Puts a job at the front of its priority.
local function makeReady(base, key, id)
  local priority = tonumber(redis.call('HGET', key, 'priority')) or 0
  redis.call('ZADD', base .. 'prioritized', priority * 0x100000000, id)
  redis.call('HSET', key, 'delay', 0)
  redis.call('ZADD', base .. 'marker', 0, '0')
end

local function dropLease(id, key)
  redis.call('ZREM', own .. 'leases', id)
  redis.call('HDEL', own .. 'holders', id)
  local token = redis.call('HGET', key, '_token')
  if token then redis.call('HDEL', own .. 'claims', token) end
  redis.call('HDEL', key, '_token', '_holder')
end

-- Ends a lease and makes the job ready again, as BullMQ does with a stalled job.
local function free(id)
  local number, base, key = locate(id)
  if not number then
    redis.call('ZREM', own .. 'leases', id)
    redis.call('HDEL', own .. 'holders', id)
    return
  end
  dropLease(id, key)
  if redis.call('LREM', base .. 'active', 1, id) > 0 then
    redis.call('DEL', key .. ':lock')
    redis.call('SREM', base .. 'stalled', id)
    makeReady(base, key, id)
  end
  if redis.call('HGET', key, '_status') == 'working' then setStatus(number, key, id, 'queued') end
end

local function freeExpired()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', own .. 'leases', '-inf', nowText)) do free(id) end
end

local function take(number, key, id, token, holder, leaseMs)
  redis.call('HSET', key, '_token', token, '_holder', holder, '_updated', nowText)
  redis.call('HINCRBY', key, '_attempts', 1)
  redis.call('HDEL', key, '_notBefore')
  redis.call('ZADD', own .. 'leases', string.format('%.0f', now + leaseMs), id)
  redis.call('HSET', own .. 'holders', id, holder)
  redis.call('HSET', own .. 'claims', token, id)
  setStatus(number, key, id, 'working')
end

-- The hash of an input keeps the index small, however long the path is.
local function inputIndex(input) return string.sub(redis.sha1hex(input), 1, 24) end
local function inputEntry(key, id) return inputIndex(redis.call('HGET', key, '_input')) .. ':' .. id end

local function read(key) return redis.call('HGETALL', key) end
`
