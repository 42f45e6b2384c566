import type { ScriptRunner } from '../../../ledger/index.js'
import type { SigningKeyRecords, StoredKey } from '../signing-key-records.js'
import { ServiceScripts } from './service-scripts.js'

const SCRIPTS = {
  all: `
local keys = {}
local found = call('ZREVRANGE', S .. 'signing', 0, -1, 'WITHSCORES')
for i = 1, #found, 2 do keys[#keys + 1] = { found[i], call('HGET', S .. 'signingKeys', found[i]), found[i + 1] } end
return keys`,

  /** A[1] kid, A[2] private key, A[3] kid that it replaces or '', A[4] how long an older key stays, in ms. */
  add: `
local newest = call('ZREVRANGE', S .. 'signing', 0, 0, 'WITHSCORES')
if newest[1] and newest[1] ~= A[3] then
  return { newest[1], call('HGET', S .. 'signingKeys', newest[1]), newest[2] }
end
-- Always later than the newest, so that two rotations in one millisecond have an order.
local created = math.max(now, (tonumber(newest[2]) or 0) + 1)
local text = string.format('%.0f', created)
call('ZADD', S .. 'signing', text, A[1])
call('HSET', S .. 'signingKeys', A[1], A[2])
local found = call('ZREVRANGE', S .. 'signing', 0, -1, 'WITHSCORES')
for i = 3, #found, 2 do
  -- A key stopped signing when its successor was created.
  if tonumber(found[i - 1]) < created - tonumber(A[4]) then
    call('ZREM', S .. 'signing', found[i])
    call('HDEL', S .. 'signingKeys', found[i])
  end
end
return { A[1], A[2], text }`,
}

/** {@link SigningKeyRecords} on Redis. */
export class RedisSigningKeyRecords implements SigningKeyRecords {
  readonly #scripts: ServiceScripts<keyof typeof SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'signing', SCRIPTS)
  }

  async all(): Promise<StoredKey[]> {
    return ((await this.#scripts.run('all')) as [string, string, string][]).map(toStoredKey)
  }

  async add(
    { kid, jwk }: Omit<StoredKey, 'createdMs'>,
    insteadOf: string | undefined,
    forgetMs: number,
  ): Promise<StoredKey> {
    const values = [kid, JSON.stringify(jwk), insteadOf ?? '', forgetMs]
    return toStoredKey((await this.#scripts.run('add', values)) as [string, string, string])
  }
}

function toStoredKey([kid, jwk, createdMs]: readonly [string, string, string]): StoredKey {
  return { kid, jwk: JSON.parse(jwk), createdMs: Number(createdMs) }
}
