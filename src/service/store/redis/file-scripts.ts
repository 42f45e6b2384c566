import { EXPIRED_PAGE, RETRYABLE_CODES } from '../files.js'
import { CREDITS } from './credits-script.js'

/** Reads a file: `file` is its hash before the change. */
const FILE = `
local id = A[1]
local key = S .. 'file:' .. id
local file = hash(key)
local isOpen = file.state == 'pending' or file.state == 'in-progress'
local isEnded = file.state == 'succeeded' or file.state == 'failed'
local function write(...) call('HSET', key, 'updatedMs', nowText, ...) end
`

/** Ends a file: the age of its input and its output counts from now. */
const END = `
local function ended()
  call('ZADD', S .. 'inputs', nowText, id)
  call('ZADD', S .. 'outputs', nowText, id)
  call('ZREM', S .. 'unqueued', id)
end
`

/** Queues the webhook events of a file in the given order: pairs of type and status from A[first] on. */
const TELL = `
local function tell(first)
  local current = hash(key)
  if current.webhook ~= '1' or call('HEXISTS', S .. 'user:' .. current.userId, 'webhookUrl') == 0 then return end
  for i = first, #A, 2 do
    local event = { id = call('INCR', S .. 'lastEvent'), userId = current.userId, type = A[i], status = A[i + 1],
                    progress = math.floor(tonumber(current.progress)), errorCode = tonumber(current.errorCode),
                    secret = current.webhookSecret }
    if call('RPUSH', S .. 'events:' .. id, cjson.encode(event)) == 1 then call('ZADD', S .. 'due', nowText, id) end
  end
end
`

/**
 * Builds the script of a change. A[1] id, A[2] claim or '', A[3] a percentage or '', A[4] number of fields. The fields
 * follow, and then the events.
 *
 * @param guard condition in Lua: the state allows the change
 * @param effect Lua that runs before the fields are written
 */
function change(guard: string, effect = ''): string {
  return `${FILE}${END}${TELL}${CREDITS}
local isMine = file.claim == A[2]
if not (${guard}) then return { 0, call('HGETALL', key) } end
${effect}
write()
for i = 5, 4 + tonumber(A[4]), 2 do call('HSET', key, A[i], A[i + 1]) end
tell(5 + tonumber(A[4]))
return { 1, call('HGETALL', key) }`
}

const RETRYABLE = RETRYABLE_CODES.map((code) => `['${code}'] = true`).join(', ')

/** Our scripts over files. */
export const FILE_SCRIPTS = {
  /** A[1] id; fields follow. */
  register: `${FILE}
if not file.id then
  write('createdMs', nowText, unpack(A, 2))
  call('ZADD', S .. 'unused', nowText, id)
end
return call('HGETALL', key)`,

  /** A[1] user; ids follow. Returns an empty list for an id that does not exist or is not the user's. */
  ofUser: `
local files = {}
for i = 2, #A do
  local key = S .. 'file:' .. A[i]
  files[i - 1] = call('HGET', key, 'userId') == A[1] and call('HGETALL', key) or {}
end
return files`,

  byId: `return call('HGETALL', S .. 'file:' .. A[1])`,

  known: `
local known = {}
for i = 1, #A do if call('EXISTS', S .. 'file:' .. A[i]) == 1 then known[#known + 1] = A[i] end end
return known`,

  start: change(
    `file.state == 'registered'
  or (file.state == 'failed' and not file.inputDeletedMs and ({ ${RETRYABLE} })[file.errorCode])`,
    `
call('HDEL', key, 'endedMs', 'claim', 'webhookSecret', 'outputType')
call('ZREM', S .. 'unused', id)
call('ZREM', S .. 'inputs', id)
call('ZREM', S .. 'outputs', id)
call('ZADD', S .. 'unqueued', file.createdMs, id)`,
  ),
  begin: change(`isMine and file.state == 'pending'`),
  progress: change(`isMine and file.state == 'in-progress' and tonumber(file.progress) < tonumber(A[3])`),
  succeed: change('isMine and isOpen', `write('endedMs', nowText)\nended()`),
  fail: change(
    'isMine and isOpen',
    `
local charged = chargedOf(file)
write('endedMs', nowText, 'chargedMs', '0')
ended()
local user = S .. 'user:' .. file.userId
if creditsOf(user) then call('HINCRBY', user, 'creditsMs', charged) end`,
  ),
  tell: change('isMine and isOpen'),
  'input-deleted': change(
    'isEnded and not file.inputDeletedMs',
    `write('inputDeletedMs', nowText)\ncall('ZREM', S .. 'inputs', id)`,
  ),
  'output-deleted': change(
    'isEnded and not file.outputDeletedMs',
    `
write('outputDeletedMs', nowText, 'inputDeletedMs', file.inputDeletedMs or nowText)
call('ZREM', S .. 'inputs', id)
call('ZREM', S .. 'outputs', id)
call('ZADD', S .. 'deleted', nowText, id)`,
  ),

  findAgain: `${FILE}
if file.claim then
  call('HDEL', key, 'claim')
  call('HINCRBY', key, 'crashes', 1)
  write()
end
return call('HGETALL', key)`,

  /** A[2] claim. */
  takeUp: `${FILE}
if not isOpen then return 0 end
write('claim', A[2], 'isQueued', '1')
call('ZREM', S .. 'unqueued', id)
return 1`,
  putDown: `${FILE}
if file.claim == A[2] then call('HDEL', key, 'claim') end
return 1`,
  countFault: `${FILE}
if file.claim ~= A[2] then return -1 end
if file.faultClaim ~= A[2] then
  write('faultClaim', A[2])
  call('HINCRBY', key, 'faults', 1)
end
return tonumber(call('HGET', key, 'faults'))`,

  /** A[2] claim, A[3] whole milliseconds. */
  charge: `${FILE}${CREDITS}
if file.claim ~= A[2] or not isOpen then return 'lost' end
if chargedOf(file) ~= '0' then return 'charged' end
local user = S .. 'user:' .. file.userId
local credits = creditsOf(user)
if credits then
  if tonumber(credits) < tonumber(A[3]) then return 'short' end
  -- Redis rejects -0.
  if A[3] ~= '0' then call('HINCRBY', user, 'creditsMs', '-' .. A[3]) end
end
write('chargedMs', A[3])
return 'charged'`,

  unqueued: `return call('ZRANGE', S .. 'unqueued', 0, -1)`,
  markQueued: `${FILE}
call('ZREM', S .. 'unqueued', id)
if file.id then write('isQueued', '1') end
return 1`,

  /** A[1] name of the index, A[2] age in ms. */
  outlived: `
local before, files = string.format('(%.0f', now - tonumber(A[2])), {}
for i, id in ipairs(call('ZRANGEBYSCORE', S .. A[1], '-inf', before, 'LIMIT', 0, ${EXPIRED_PAGE})) do
  files[i] = call('HGETALL', S .. 'file:' .. id)
end
return files`,

  forgetUnused: `${FILE}
if file.state ~= 'registered' then return 0 end
call('DEL', key)
call('ZREM', S .. 'unused', id)
return 1`,

  /** A[1] age in ms. Returns 1 if there are more. */
  forgetDeleted: `
local before = string.format('(%.0f', now - tonumber(A[1]))
local ids = call('ZRANGEBYSCORE', S .. 'deleted', '-inf', before, 'LIMIT', 0, ${EXPIRED_PAGE})
for _, id in ipairs(ids) do
  call('DEL', S .. 'file:' .. id)
  call('ZREM', S .. 'deleted', id)
end
return #ids == ${EXPIRED_PAGE} and 1 or 0`,
}
