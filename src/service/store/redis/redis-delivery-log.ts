import type { ScriptRunner } from '../../../ledger/index.js'
import type { DeliveryLog, DeliveryLogEntry } from '../../webhooks/delivery-log.js'
import { ServiceScripts } from './service-scripts.js'

const SCRIPTS = {
  latest: `return call('LRANGE', S .. 'log', -tonumber(A[1]), -1)`,

  /** A[1] age in ms. The oldest come first. */
  forgetOld: `
for i = 1, 1000 do
  local oldest = call('LINDEX', S .. 'log', 0)
  if not oldest or cjson.decode(oldest).atMs >= now - tonumber(A[1]) then return 0 end
  call('LPOP', S .. 'log')
end
return 1`,
}

/** {@link DeliveryLog} on Redis: a list of entries as JSON. `RedisOutbox` writes each with the result of its event. */
export class RedisDeliveryLog implements DeliveryLog {
  readonly #scripts: ServiceScripts<keyof typeof SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'log', SCRIPTS)
  }

  async latest(limit: number): Promise<DeliveryLogEntry[]> {
    const entries = (await this.#scripts.run('latest', [limit])) as string[]
    return entries.reverse().map((text) => JSON.parse(text))
  }

  async forgetOld(forMs: number): Promise<void> {
    while ((await this.#scripts.run('forgetOld', [forMs])) === 1);
  }
}
