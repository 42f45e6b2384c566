import type { SecretPosition, WebhookBody, WebhookMethod } from '../../contract/index.js'
import { UsageError } from '../../core/errors.js'

/** Where a user's webhooks go, as set in the portal. */
export interface WebhookTarget {
  readonly url: string
  readonly method: WebhookMethod
  readonly secretPosition: SecretPosition
  /** The portal's secret; startProcess's own wins over it. */
  readonly secret: string | null
}

/** A webhook as it goes over the wire. */
export interface WebhookRequest {
  readonly method: WebhookMethod
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The webhook settings of users. */
export interface WebhookTargets {
  of(userId: string): Promise<WebhookTarget | undefined>
  /**
   * @param target null: no webhooks any more
   * @throws UsageError `ERR_WEBHOOK_SETTINGS`
   */
  set(userId: string, target: WebhookTarget | null): Promise<void>
}

/** Puts an event into a request: the body or, for GET, the query; the secret where the user wants it. */
export function webhookRequest(target: WebhookTarget, body: WebhookBody, secret: string | null): WebhookRequest {
  const url = new URL(target.url)
  const headers: Record<string, string> = {}
  const { secretPosition, method } = target
  if (secret !== null && secretPosition === 'header') headers.authorization = `Bearer ${headerText(secret)}`
  if (secret !== null && secretPosition === 'query') addToQuery(url, { secret })
  if (method === 'GET') {
    addToQuery(url, { userId: body.userId, type: body.type, message: JSON.stringify(body.message) })
    return { method, url, headers }
  }
  const json = JSON.stringify(secret !== null && secretPosition === 'body' ? { ...body, secret } : body)
  headers['content-type'] = 'application/json'
  headers['content-length'] = String(Buffer.byteLength(json))
  return { method, url, headers, body: json }
}

/**
 * Adds to the query of an address, whose own part stays as its owner wrote it. A space is %20: a plus sign is one to
 * form decoders only.
 */
function addToQuery(url: URL, values: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(values)) if (url.searchParams.has(name)) url.searchParams.delete(name)
  const added = Object.entries(values).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  url.search = [url.search.slice(1), ...added].filter((part) => part !== '').join('&')
}

/** Any text as a header can carry it: its bytes of UTF-8, one a character, as `node:http` writes them. */
function headerText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** @throws UsageError `ERR_WEBHOOK_SETTINGS` */
export function assertTarget(target: WebhookTarget): void {
  const wrong = (message: string, remedy: string) =>
    new UsageError('ERR_WEBHOOK_SETTINGS', message, { remedies: [remedy] })
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw wrong('The webhook address is not an http(s) address.', 'Give it whole, as in https://example.com/hook.')
  if (target.method === 'GET' && target.secretPosition === 'body')
    throw wrong('A GET webhook has no body that a secret could be in.', 'Use --secret-position header or query.')
  // A header carries visible ASCII only: anything else would be refused at each delivery.
  if (target.secret !== null && target.secretPosition === 'header' && !isHeaderSafe(target.secret))
    throw wrong('A secret in the header may hold visible ASCII characters only.', 'Choose another secret or position.')
}

/** Whether a text may stand in a header value. */
function isHeaderSafe(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text)
}
