import { createHmac } from 'node:crypto'
import { withTimeLimit } from '../../../src/core/linked-abort.js'
import { thrownMessage } from '../../../src/core/thrown-message.js'
import type { AfterFacts } from './after-facts.js'

const WEBHOOK_MS = 10_000
/** Marks a key as base64 in Standard Webhooks. */
const KEY_PREFIX = 'whsec_'

/** A webhook that was not accepted. */
export class WebhookFault extends Error {
  /** True if a retry may succeed: a network fault, a busy receiver. */
  readonly isTransient: boolean

  constructor(message: string, isTransient: boolean) {
    super(message)
    this.isTransient = isTransient
  }
}

/**
 * Posts the facts as JSON, with the headers of Standard Webhooks (standardwebhooks.com). The path of an address is never
 * in a message, because chat services keep a secret in it.
 *
 * @param secret signs the request; null sends it unsigned
 * @throws {WebhookFault} unless the receiver accepts it with 2xx
 */
export async function postAfterWebhook(
  address: string,
  facts: AfterFacts,
  { secret, signal }: { readonly secret: string | null; readonly signal: AbortSignal },
): Promise<void> {
  const { origin } = new URL(address)
  const body = JSON.stringify(facts)
  // A receiver drops an id that it knows, and a retry of the job may end in the same way.
  const id = `${facts.job}-${facts.status}-${Date.parse(facts.at)}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    ...{ 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp },
    ...(secret !== null && { 'webhook-signature': `v1,${signature(secret, `${id}.${timestamp}.${body}`)}` }),
  }
  const response = await withTimeLimit(WEBHOOK_MS, signal, (limited) =>
    fetch(address, { method: 'POST', headers, body, redirect: 'manual', signal: limited }),
  ).catch((fault: unknown) => {
    if (signal.aborted) throw fault
    throw new WebhookFault(`${origin} was not reached (${reasonOf(fault)})`, true)
  })
  // The status says all. A body may be without an end.
  await response.body?.cancel().catch(() => {})
  const { status } = response
  const location = response.headers.get('location')
  if (status >= 300 && status < 400 && location !== null && URL.canParse(location, address)) {
    const target = new URL(location, address).origin
    throw new WebhookFault(
      `${origin} redirects to ${target}, and redirects are not followed: name the new address`,
      false,
    )
  }
  if (!response.ok)
    throw new WebhookFault(
      `${origin} responded with status ${status}`,
      status >= 500 || [408, 425, 429].includes(status),
    )
}

/** HMAC-SHA256 in base64. */
function signature(secret: string, signed: string): string {
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64') : secret
  return createHmac('sha256', key).update(signed).digest('base64')
}

/** The cause behind the `fetch failed` of Node. */
function reasonOf(fault: unknown): string {
  const { cause } = fault as { cause?: NodeJS.ErrnoException }
  return cause?.code ?? thrownMessage(cause ?? fault)
}
