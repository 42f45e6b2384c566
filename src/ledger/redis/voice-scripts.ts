import type { StoreScript } from './redis-scripts.js'

/**
 * A voice is one hash, `own:voice:<key>`: status, times, lease, the number of `attempts`, and fields `<name>:<number>`
 * for each attempt. The hash `own:files` maps a file id to its voice. The sorted set `own:voices` orders voices at rest
 * by their last use. A[1] is always the key of the voice.
 */
const VOICE = `
local key = own .. 'voice:' .. A[1]
-- Held, unless the lease has expired or the holder is known to be dead.
local function isHeldIn(key, dead)
  if redis.call('HEXISTS', key, 'token') == 0 then return false end
  if tonumber(redis.call('HGET', key, 'expires')) <= now then return false end
  return dead == '' or redis.call('HGET', key, 'holder') ~= dead
end
local function isHeld(dead) return isHeldIn(key, dead) end
local function forget(name)
  local key = own .. 'voice:' .. name
  for attempt = 1, tonumber(redis.call('HGET', key, 'attempts') or 0) do
    local fileId = redis.call('HGET', key, 'fileId:' .. attempt)
    if fileId then redis.call('HDEL', own .. 'files', fileId) end
  end
  redis.call('ZREM', own .. 'voices', name)
  return redis.call('DEL', key)
end
-- A claim adds at most one voice, so removing two shrinks the set.
local function forgetUnused(keepMs)
  local before = string.format('(%.0f', now - keepMs)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', own .. 'voices', '-inf', before, 'LIMIT', 0, 2)) do
    if isHeldIn(own .. 'voice:' .. name, '') then redis.call('ZADD', own .. 'voices', nowText, name)
    else forget(name) end
  end
end
local function release() redis.call('HDEL', key, 'token', 'holder', 'expires') end
`

/** Checks the lease, A[2]. A[3] identifies the call: sent again, because its answer was lost, it changes nothing. */
const LEASED = `${VOICE}
if redis.call('HGET', key, 'call') == A[3] then return { 'ok', nowText, read(key) } end
if redis.call('HGET', key, 'token') ~= A[2] then return { 'lost' } end
`

/** Our scripts over voices. */
export const VOICE_SCRIPTS = {
  /** A[2] dead holder or '', A[3] token, A[4] holder, A[5] lease in ms, A[6] how long voices are kept, in ms. */
  claim: {
    lua: `${VOICE}
if redis.call('HGET', key, 'token') ~= A[3] and isHeld(A[2]) then return { 'held', nowText, read(key) } end
if redis.call('HSETNX', key, 'status', 'new') == 1 then
  redis.call('HSET', key, 'key', A[1], 'created', nowText, 'attempts', 0)
  redis.call('ZADD', own .. 'voices', nowText, A[1])
else
  redis.call('ZADD', own .. 'voices', 'XX', nowText, A[1])
end
redis.call('HSET', key, 'token', A[3], 'holder', A[4], 'expires', string.format('%.0f', now + tonumber(A[5])),
  'updated', nowText)
forgetUnused(tonumber(A[6]))
return { 'claimed', nowText, read(key) }`,
  },

  /** A[4] lease in ms. */
  heartbeat: {
    lua: `${LEASED}
redis.call('HSET', key, 'expires', string.format('%.0f', now + tonumber(A[4])))
return { 'ok', nowText, read(key) }`,
  },

  /**
   * - A[4] new status, A[5] allowed old statuses, with commas
   * - A[6] '1' if the new status is at rest
   * - A[7] file id or '', A[8] cache path or ''
   *
   * Changes of the attempt follow as triples: operation (`set`, `once` to keep an existing value, `clear`), field, value
   * (`now` for the time).
   */
  advance: {
    lua: `${LEASED}
local status = redis.call('HGET', key, 'status')
if not string.find(A[5], ',' .. status .. ',', 1, true) then return { 'wrong', status } end
local attempt = A[4] == 'registering' and redis.call('HINCRBY', key, 'attempts', 1) or redis.call('HGET', key, 'attempts')
for i = 9, #A, 3 do
  local field = A[i + 1] .. ':' .. attempt
  local value = A[i + 2] == 'now' and nowText or A[i + 2]
  if A[i] == 'set' then redis.call('HSET', key, field, value)
  elseif A[i] == 'once' then redis.call('HSETNX', key, field, value)
  else redis.call('HDEL', key, field) end
end
redis.call('HSET', key, 'status', A[4], 'status:' .. attempt, A[4], 'updated', nowText, 'call', A[3])
if A[6] == '1' then redis.call('ZADD', own .. 'voices', nowText, A[1])
else redis.call('ZREM', own .. 'voices', A[1]) end
if A[7] ~= '' then redis.call('HSET', own .. 'files', A[7], A[1]) end
if A[8] ~= '' then redis.call('HSET', key, 'cachePath', A[8]) end
return { 'ok', nowText, read(key) }`,
  },

  release: {
    lua: `${VOICE}
if redis.call('HGET', key, 'token') == A[2] then release() end
return 1`,
  },

  get: { lua: `${VOICE}\nreturn read(key)` },
  /** A[1] is a file id. */
  getByFileId: {
    lua: `
local key = redis.call('HGET', own .. 'files', A[1])
return key and read(own .. 'voice:' .. key) or {}`,
  },

  /** A[2] dead holder or ''. */
  forget: {
    lua: `${VOICE}
if isHeld(A[2]) then return 0 end
return forget(A[1])`,
  },
} as const satisfies Record<string, StoreScript>
