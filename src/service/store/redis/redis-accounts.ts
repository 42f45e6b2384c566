import { randomUUID } from 'node:crypto'
import type { ScriptRunner } from '../../../ledger/index.js'
import { type Accounts, accountExists, accountUnknown, creditsMs, outsideName, type ServiceUser } from '../accounts.js'
import { hashesOf, hashOf, numberOf, ServiceScripts } from './service-scripts.js'

const SCRIPTS = {
  /** A[1] name, A[2] subject or '', A[3] user's id, A[4] account's id. Returns the user, new or not. */
  ensure: `
local id = A[2] ~= '' and call('HGET', S .. 'subjects', A[2]) or (A[2] == '' and call('HGET', S .. 'accounts', A[1]))
if not id then
  id = A[3]
  call('HSET', S .. 'accounts', A[1], id)
  if A[2] ~= '' then call('HSET', S .. 'subjects', A[2], id) end
  call('HSET', S .. 'user:' .. id, 'id', id, 'accountId', A[4], 'name', A[1], 'createdMs', nowText)
end
return call('HGETALL', S .. 'user:' .. id)`,

  named: `
local id = call('HGET', S .. 'accounts', A[1])
return id and call('HGETALL', S .. 'user:' .. id) or {}`,

  byId: `return call('HGETALL', S .. 'user:' .. A[1])`,

  list: `
local users = {}
for i, id in ipairs(call('HVALS', S .. 'accounts')) do users[i] = call('HGETALL', S .. 'user:' .. id) end
return users`,

  /** A[1] id, A[2] milliseconds or ''. */
  setCredits: `
local key = S .. 'user:' .. A[1]
if call('EXISTS', key) == 0 then return 0 end
call('HDEL', key, 'creditsSec')
if A[2] == '' then call('HDEL', key, 'creditsMs') else call('HSET', key, 'creditsMs', A[2]) end
return 1`,
}

/** {@link Accounts} on Redis. */
export class RedisAccounts implements Accounts {
  readonly #scripts: ServiceScripts<keyof typeof SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'accounts', SCRIPTS)
  }

  async create(name: string): Promise<ServiceUser> {
    const userId = randomUUID()
    const user = await this.#ensure(name, '', userId)
    if (user.id !== userId) throw accountExists(name)
    return user
  }

  ensure(name: string): Promise<ServiceUser> {
    return this.#ensure(name, '', randomUUID())
  }

  ensureSubject(subject: string): Promise<ServiceUser> {
    return this.#ensure(outsideName(subject), subject, randomUUID())
  }

  async named(name: string): Promise<ServiceUser> {
    const user = toUser(hashOf(await this.#scripts.run('named', [name])))
    if (user) return user
    throw accountUnknown(name)
  }

  async byId(userId: string): Promise<ServiceUser | undefined> {
    return toUser(hashOf(await this.#scripts.run('byId', [userId])))
  }

  async list(): Promise<ServiceUser[]> {
    const users = hashesOf(await this.#scripts.run('list'))
    const byAge = users.sort(
      (a, b) =>
        Number(a.get('createdMs')) - Number(b.get('createdMs')) ||
        (String(a.get('name')) < String(b.get('name')) ? -1 : 1),
    )
    return byAge.flatMap((hash) => toUser(hash) ?? [])
  }

  async setCredits(userId: string, creditsSec: number | null): Promise<void> {
    await this.#scripts.run('setCredits', [userId, creditsMs(creditsSec) ?? ''])
  }

  async #ensure(name: string, subject: string, userId: string): Promise<ServiceUser> {
    const user = toUser(hashOf(await this.#scripts.run('ensure', [name, subject, userId, randomUUID()])))
    if (!user) throw new Error(`The user ${name} vanished within a script.`)
    return user
  }
}

function toUser(hash: ReadonlyMap<string, string> | undefined): ServiceUser | undefined {
  if (!hash) return undefined
  // Earlier versions wrote seconds. They stay until the first charge.
  const [ms, sec] = [numberOf(hash, 'creditsMs'), numberOf(hash, 'creditsSec')]
  return {
    id: hash.get('id') ?? '',
    accountId: hash.get('accountId') ?? '',
    name: hash.get('name') ?? '',
    creditsSec: ms === null ? sec : ms / 1000,
  }
}
