import { secretPositionSchema, webhookMethodSchema } from '../../../contract/index.js'
import type { ScriptRunner } from '../../../ledger/index.js'
import { assertTarget, type WebhookTarget, type WebhookTargets } from '../../webhooks/webhook-target.js'
import { fieldsOf, hashOf, ServiceScripts } from './service-scripts.js'

const SCRIPTS = {
  of: `return call('HGETALL', S .. 'user:' .. A[1])`,

  /** A[1] user's id; fields follow. */
  set: `
local key = S .. 'user:' .. A[1]
if call('EXISTS', key) == 0 then return 0 end
call('HDEL', key, 'webhookUrl', 'webhookMethod', 'webhookSecretPosition', 'webhookSecret')
if #A > 1 then call('HSET', key, unpack(A, 2)) end
return 1`,
}

/** {@link WebhookTargets} on Redis. */
export class RedisWebhookTargets implements WebhookTargets {
  readonly #scripts: ServiceScripts<keyof typeof SCRIPTS>

  constructor(runner: ScriptRunner) {
    this.#scripts = new ServiceScripts(runner, 'targets', SCRIPTS)
  }

  async of(userId: string): Promise<WebhookTarget | undefined> {
    const hash = hashOf(await this.#scripts.run('of', [userId]))
    const url = hash?.get('webhookUrl')
    if (!hash || !url) return undefined
    return {
      url,
      method: webhookMethodSchema.parse(hash.get('webhookMethod')),
      secretPosition: secretPositionSchema.parse(hash.get('webhookSecretPosition')),
      secret: hash.get('webhookSecret') ?? null,
    }
  }

  async set(userId: string, target: WebhookTarget | null): Promise<void> {
    if (target) assertTarget(target)
    const fields = target && {
      webhookUrl: target.url,
      webhookMethod: target.method,
      webhookSecretPosition: target.secretPosition,
      webhookSecret: target.secret,
    }
    await this.#scripts.run('set', [userId, ...fieldsOf(fields ?? {})])
  }
}
