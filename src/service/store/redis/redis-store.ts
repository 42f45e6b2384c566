import type { ScriptRunner } from '../../../ledger/index.js'
import type { ServiceStore } from '../service-store.js'
import { RedisAccounts } from './redis-accounts.js'
import { RedisDeliveryLog } from './redis-delivery-log.js'
import { RedisFiles } from './redis-files.js'
import { RedisKeyRecords } from './redis-key-records.js'
import { RedisOutbox } from './redis-outbox.js'
import { RedisSigningKeyRecords } from './redis-signing-key-records.js'
import { RedisWebhookTargets } from './redis-webhook-targets.js'
import { ServiceScripts } from './service-scripts.js'

const SCRIPTS = {
  /** A[1] name, A[2] value. */
  keep: `
call('HSETNX', S .. 'kept', A[1], A[2])
return call('HGET', S .. 'kept', A[1])`,

  /** A[1] name, A[2] owner, A[3] length of the turn in ms. */
  turn: `
local held = call('HGET', S .. 'turns', A[1])
if held then
  local untilMs, owner = string.match(held, '^(%S+) (.*)$')
  if owner ~= A[2] and tonumber(untilMs) > now then return 0 end
end
call('HSET', S .. 'turns', A[1], string.format('%.0f', now + tonumber(A[3])) .. ' ' .. A[2])
return 1`,
}

/** The service's store on Redis, for nodes on any number of machines. */
export function redisStore(runner: ScriptRunner): ServiceStore {
  const scripts = new ServiceScripts(runner, 'store', SCRIPTS)
  return {
    accounts: new RedisAccounts(runner),
    keys: new RedisKeyRecords(runner),
    signingKeys: new RedisSigningKeyRecords(runner),
    files: new RedisFiles(runner),
    targets: new RedisWebhookTargets(runner),
    outbox: new RedisOutbox(runner),
    log: new RedisDeliveryLog(runner),
    keepFirst: async (name, value) => String(await scripts.run('keep', [name, value])),
    takeTurn: async (name, owner, forMs) => (await scripts.run('turn', [name, owner, forMs])) === 1,
  }
}
