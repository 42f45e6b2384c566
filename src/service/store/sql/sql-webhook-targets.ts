import { secretPositionSchema, webhookMethodSchema } from '../../../contract/index.js'
import type { Database } from '../../../ledger/index.js'
import { assertTarget, type WebhookTarget, type WebhookTargets } from '../../webhooks/webhook-target.js'

/** {@link WebhookTargets} in SQL. */
export class SqlWebhookTargets implements WebhookTargets {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async of(userId: string): Promise<WebhookTarget | undefined> {
    const row = await this.#database.get('SELECT * FROM user WHERE id = ?', [userId])
    if (!row?.webhook_url) return undefined
    return {
      url: String(row.webhook_url),
      method: webhookMethodSchema.parse(row.webhook_method),
      secretPosition: secretPositionSchema.parse(row.webhook_secret_position),
      secret: typeof row.webhook_secret === 'string' ? row.webhook_secret : null,
    }
  }

  async set(userId: string, target: WebhookTarget | null): Promise<void> {
    if (target) assertTarget(target)
    await this.#database.run(
      'UPDATE user SET webhook_url = ?, webhook_method = ?, webhook_secret_position = ?, webhook_secret = ? WHERE id = ?',
      [target?.url ?? null, target?.method ?? null, target?.secretPosition ?? null, target?.secret ?? null, userId],
    )
  }
}
