import type { WebhookStatus, WebhookType } from '../../../contract/index.js'
import type { ScriptRunner } from '../../../ledger/index.js'
import type { DeliveryLogEntry } from '../../webhooks/delivery-log.js'
import type { Outbox, OutgoingEvent, Settlement } from '../../webhooks/outbox.js'
import { ServiceScripts } from './service-scripts.js'

/** Most entries of the log, whatever their age: memory costs more than a disk. */
const MAX_LOG_ENTRIES = 100_000

/** Checks that the first event of a file is still the caller's. A[1] file, A[2] event, A[3] owner, A[4] attempt. */
const MINE = `
local events, sending = S .. 'events:' .. A[1], S .. 'sending:' .. A[1]
local head = call('LINDEX', events, 0)
if not head or tostring(cjson.decode(head).id) ~= A[2] then return 0 end
local lease = hash(sending)
if lease.owner ~= A[3] or lease.attempts ~= A[4] then return 0 end
`

const SCRIPTS = {
  /** A[1] owner, A[2] lease in ms, A[3] limit. */
  claim: `
local claimed = {}
for _, id in ipairs(call('ZRANGEBYSCORE', S .. 'due', '-inf', nowText, 'LIMIT', 0, A[3])) do
  local head = call('LINDEX', S .. 'events:' .. id, 0)
  if head then
    local attempt = call('HINCRBY', S .. 'sending:' .. id, 'attempts', 1)
    call('HSET', S .. 'sending:' .. id, 'owner', A[1])
    call('ZADD', S .. 'due', string.format('%.0f', now + tonumber(A[2])), id)
    claimed[#claimed + 1] = { id, head, attempt }
  else
    call('ZREM', S .. 'due', id)
    call('DEL', S .. 'sending:' .. id)
  end
end
return claimed`,

  /** A[5] ms until the retry, or ''; A[6] entry of the log as JSON without its time. */
  settle: `${MINE}
if A[5] == '' then
  call('LPOP', events)
  call('DEL', sending)
  if call('LLEN', events) > 0 then call('ZADD', S .. 'due', nowText, A[1]) else call('ZREM', S .. 'due', A[1]) end
else
  call('HDEL', sending, 'owner')
  call('ZADD', S .. 'due', string.format('%.0f', math.ceil(now + tonumber(A[5]))), A[1])
end
call('RPUSH', S .. 'log', '{"atMs":' .. nowText .. ',' .. string.sub(A[6], 2))
call('LTRIM', S .. 'log', -${MAX_LOG_ENTRIES}, -1)
return 1`,

  release: `${MINE}
call('HDEL', sending, 'owner')
call('HINCRBY', sending, 'attempts', -1)
call('ZADD', S .. 'due', nowText, A[1])
return 1`,
}

/** An event in the form that `RedisFiles` writes. */
interface WrittenEvent {
  readonly id: number
  readonly userId: string
  readonly type: WebhookType
  readonly status: WebhookStatus
  readonly progress: number
  readonly errorCode: OutgoingEvent['body']['message']['errorCode']
  readonly secret?: string
}

/** {@link Outbox} on Redis: each file has a list of events, and only the first of it is due. */
export class RedisOutbox implements Outbox {
  readonly #scripts: ServiceScripts<keyof typeof SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'outbox', SCRIPTS)
  }

  async claim(owner: string, leaseMs: number, count: number): Promise<OutgoingEvent[]> {
    if (count <= 0) return []
    const claimed = (await this.#scripts.run('claim', [owner, leaseMs, count])) as [string, string, number][]
    return claimed.map(([fileId, text, attempt]) => toEvent(fileId, JSON.parse(text), attempt, owner))
  }

  async settle(event: OutgoingEvent, settlement: Settlement, entry: Omit<DeliveryLogEntry, 'atMs'>): Promise<void> {
    const again = settlement.outcome === 'failed' ? settlement.againInMs : ''
    await this.#scripts.run('settle', [...leaseOf(event), again, JSON.stringify(entry)])
  }

  async release(event: OutgoingEvent): Promise<void> {
    await this.#scripts.run('release', leaseOf(event))
  }
}

function leaseOf({ fileId, id, owner, attempt }: OutgoingEvent): (string | number)[] {
  return [fileId, id, owner, attempt]
}

function toEvent(fileId: string, written: WrittenEvent, attempt: number, owner: string): OutgoingEvent {
  const { id, userId, type, status, progress, errorCode, secret = null } = written
  const body = { userId, type, message: { fileId, status, progress, errorCode } }
  return { id, fileId, userId, body, secret, attempt, owner }
}
