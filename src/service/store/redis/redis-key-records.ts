import type { ScriptRunner } from '../../../ledger/index.js'
import type { KeyChange, KeyRecord, KeyRecords } from '../key-records.js'
import { fieldsOf, hashesOf, hashOf, numberOf, ServiceScripts } from './service-scripts.js'

/** Updates the indexes of a key, which sort by fields of its hash. */
const INDEX = `
local function index(clientId)
  local key = hash(S .. 'key:' .. clientId)
  if key.isLasting == '1' then call('ZADD', S .. 'keys', key.createdMs, clientId) end
  call('ZADD', S .. 'keyEnds', key.expiresMs, clientId)
end
local function forget(clientId)
  call('DEL', S .. 'key:' .. clientId)
  call('ZREM', S .. 'keys', clientId)
  call('ZREM', S .. 'keyEnds', clientId)
end
`

const SCRIPTS = {
  /** A[1] client id; fields follow. */
  add: `${INDEX}
call('HSET', S .. 'key:' .. A[1], unpack(A, 2))
index(A[1])
return 1`,

  /** A[1] client id, A[2] its end; fields follow. Returns the key, new or not. */
  put: `${INDEX}
local key = S .. 'key:' .. A[1]
if call('EXISTS', key) == 0 then call('HSET', key, unpack(A, 3)) else call('HSET', key, 'expiresMs', A[2]) end
index(A[1])
return call('HGETALL', key)`,

  /** A[1] client id, A[2] its user, A[3] the time; fields follow. Returns the user's newest key that is valid at that time. */
  addUnlessGood: `${INDEX}
for _, id in ipairs(call('ZREVRANGE', S .. 'keys', 0, -1)) do
  local key, flat = hash(S .. 'key:' .. id)
  if key.userId == A[2] and not key.revokedMs and tonumber(key.expiresMs) > tonumber(A[3]) then return flat end
end
call('HSET', S .. 'key:' .. A[1], unpack(A, 4))
index(A[1])
return call('HGETALL', S .. 'key:' .. A[1])`,

  get: `return call('HGETALL', S .. 'key:' .. A[1])`,

  list: `
local keys = {}
for i, id in ipairs(call('ZRANGE', S .. 'keys', 0, -1)) do keys[i] = call('HGETALL', S .. 'key:' .. id) end
return keys`,

  /** A[1] client id, A[2] '1' to undo its revocation; fields follow. */
  change: `${INDEX}
local key = S .. 'key:' .. A[1]
if call('EXISTS', key) == 0 then return 0 end
if A[2] == '1' then call('HDEL', key, 'revokedMs') end
if #A > 2 then call('HSET', key, unpack(A, 3)) end
index(A[1])
return 1`,

  forget: `${INDEX}
forget(A[1])
return 1`,

  /** A[1] age in ms. */
  forgetExpired: `${INDEX}
local before = string.format('(%.0f', now - tonumber(A[1]))
for _, id in ipairs(call('ZRANGEBYSCORE', S .. 'keyEnds', '-inf', before, 'LIMIT', 0, 1000)) do forget(id) end
return 1`,
}

/** {@link KeyRecords} on Redis. */
export class RedisKeyRecords implements KeyRecords {
  readonly #scripts: ServiceScripts<keyof typeof SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'keys', SCRIPTS)
  }

  async add(key: KeyRecord): Promise<void> {
    await this.#scripts.run('add', [key.clientId, ...keyFields(key)])
  }

  async put(key: KeyRecord): Promise<KeyRecord> {
    const values = [key.clientId, key.expiresMs, ...keyFields(key)]
    return toKey(hashOf(await this.#scripts.run('put', values)) ?? new Map())
  }

  async addUnlessGood(key: KeyRecord): Promise<KeyRecord> {
    const values = [key.clientId, key.userId, key.createdMs, ...keyFields(key)]
    return toKey(hashOf(await this.#scripts.run('addUnlessGood', values)) ?? new Map())
  }

  async get(clientId: string): Promise<KeyRecord | undefined> {
    const hash = hashOf(await this.#scripts.run('get', [clientId]))
    return hash && toKey(hash)
  }

  async list(): Promise<KeyRecord[]> {
    return hashesOf(await this.#scripts.run('list')).map(toKey)
  }

  async change(clientId: string, change: KeyChange): Promise<void> {
    await this.#scripts.run('change', [clientId, change.revokedMs === null ? '1' : '', ...fieldsOf(change)])
  }

  async forget(clientId: string): Promise<void> {
    await this.#scripts.run('forget', [clientId])
  }

  async forgetExpired(forMs: number): Promise<void> {
    await this.#scripts.run('forgetExpired', [forMs])
  }
}

function keyFields({ isLasting, ...key }: KeyRecord): (string | number)[] {
  return fieldsOf({ ...key, isLasting: isLasting ? 1 : 0 })
}

function toKey(hash: ReadonlyMap<string, string>): KeyRecord {
  const text = (name: string) => hash.get(name) ?? ''
  return {
    clientId: text('clientId'),
    userId: text('userId'),
    name: text('name'),
    createdMs: Number(text('createdMs')),
    expiresMs: Number(text('expiresMs')),
    revokedMs: numberOf(hash, 'revokedMs'),
    secretHash: text('secretHash'),
    isLasting: text('isLasting') === '1',
  }
}
