import {
  type SecretPosition,
  secretPositionSchema,
  type WebhookBody,
  type WebhookMethod,
  webhookMethodSchema,
} from '../../contract/index.js'
import { UsageError } from '../../core/errors.js'
import type { Database } from '../../ledger/index.js'

/** Destination of a user's webhooks, as set in the portal. */
export interface WebhookTarget {
  readonly url: string
  readonly method: WebhookMethod
  readonly secretPosition: SecretPosition
  /** The portal's secret. startProcess's own overrides it. */
  readonly secret: string | null
}

/** Puts an event into a request: into the body or, for GET, the query. Adds the secret at the user's position. */
export function webhookRequest(target: WebhookTarget, body: WebhookBody, secret: string | null) {
  const { secretPosition, method } = target
  const secretIn = (position: SecretPosition) => (secret !== null && secretPosition === position ? { secret } : {})
  const { secret: bearer } = secretIn('header')
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${headerText(bearer)}` }
  if (method === 'GET') {
    const { userId, type, message } = body
    const payload = { ...secretIn('query'), userId, type, message: JSON.stringify(message) }
    return { method, url: withQuery(target.url, payload), headers }
  }
  const json = JSON.stringify({ ...body, ...secretIn('body') })
  const described = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(json)) }
  return { method, url: withQuery(target.url, secretIn('query')), headers: { ...headers, ...described }, body: json }
}

/**
 * Adds these values to an address's query, and replaces values of the same names. Keeps the rest of the query as
 * written: parsing and rewriting it would change its encoding. A space becomes %20, because only form decoders read a
 * plus sign as one.
 */
function withQuery(address: string, values: Readonly<Record<string, string>>): URL {
  const url = new URL(address)
  const own = url.search.slice(1).split('&')
  const kept = own.filter((part) => part !== '' && !Object.hasOwn(values, nameOf(part)))
  const added = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  url.search = [...kept, ...added].join('&')
  return url
}

function nameOf(part: string): string {
  return [...new URLSearchParams(part).keys()][0] ?? ''
}

/** Encodes a text for a header: its UTF-8 bytes, one per character, as `node:http` writes them. */
function headerText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** @throws {UsageError} `ERR_WEBHOOK_SETTINGS` */
function assertTarget(target: WebhookTarget): void {
  const wrong = (message: string, remedy: string) =>
    new UsageError('ERR_WEBHOOK_SETTINGS', message, { remedies: [remedy] })
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw wrong(
      'The webhook address is not an http(s) address.',
      'Use a full address, such as https://example.com/hook.',
    )
  if (target.method === 'GET' && target.secretPosition === 'body')
    throw wrong('A GET webhook has no body for the secret.', 'Use --secret-position header or query.')
  // A header accepts visible ASCII only. Anything else would fail at each delivery.
  if (target.secret !== null && target.secretPosition === 'header' && /[^\x21-\x7e]/.test(target.secret))
    throw wrong(
      'A secret in the header may contain only visible ASCII characters.',
      'Choose another secret, or use --secret-position query.',
    )
}

/** The webhook settings of users. */
export class WebhookTargets {
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

  /** @param target null: no more webhooks @throws {UsageError} `ERR_WEBHOOK_SETTINGS` */
  async set(userId: string, target: WebhookTarget | null): Promise<void> {
    if (target) assertTarget(target)
    await this.#database.run(
      'UPDATE user SET webhook_url = ?, webhook_method = ?, webhook_secret_position = ?, webhook_secret = ? WHERE id = ?',
      [target?.url ?? null, target?.method ?? null, target?.secretPosition ?? null, target?.secret ?? null, userId],
    )
  }
}
