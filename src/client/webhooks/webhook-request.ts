import type { IncomingMessage } from 'node:http'
import { type SecretPosition, type WebhookBody, webhookBodySchema, webhookQuerySchema } from '../../contract/index.js'
import { isSameSecret } from '../../core/same-secret.js'

/** Result of reading a request: a message, or the HTTP status of its refusal. */
type WebhookReading = { readonly body: WebhookBody } | { readonly refused: 400 | 401 | 405 | 413 }

interface WebhookReadingOptions {
  /** Secret that the sender must know; undefined if none is configured. */
  readonly secret: string | undefined
  /** The only accepted position of the secret; undefined for any. */
  readonly secretPosition: SecretPosition | undefined
  readonly maxBodyBytes: number
}

/** Base for reading a request's path. Only the query counts. */
const LOCAL = 'http://localhost'

/** Reads a webhook request of any method and secret position (interface, "Events"). */
export async function readWebhook(request: IncomingMessage, options: WebhookReadingOptions): Promise<WebhookReading> {
  const { method } = request
  if (method !== 'POST' && method !== 'PUT' && method !== 'GET') return { refused: 405 }
  if (!URL.canParse(request.url ?? '/', LOCAL)) return { refused: 400 }
  const query = new URL(request.url ?? '/', LOCAL).searchParams
  const { secret, secretPosition } = options
  const counts = (position: SecretPosition) => secretPosition === undefined || secretPosition === position
  const known =
    (counts('header') && headerSecrets(request).some((value) => matches(value, secret))) ||
    (counts('query') && matches(query.get('secret'), secret))
  // Do not read the body of a sender that had to send the secret before and did not.
  if (!known && (method === 'GET' || !counts('body'))) return { refused: 401 }
  const read = method === 'GET' ? fromQuery(query) : await fromBody(request, options.maxBodyBytes)
  if (read === 'too large') return { refused: 413 }
  const inBody = (read as { secret?: unknown } | undefined)?.secret
  if (!known && !matches(inBody, secret)) return { refused: 401 }
  const body = webhookBodySchema.safeParse(read)
  return body.success ? { body: body.data } : { refused: 400 }
}

/** The secret of the header as Node decodes it, one byte per character, and as the UTF-8 that a sender wrote. */
function headerSecrets({ headers }: IncomingMessage): readonly (string | undefined)[] {
  const value = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  return [value, value && Buffer.from(value, 'latin1').toString('utf8')]
}

function matches(value: unknown, secret: string | undefined): boolean {
  return secret === undefined || (typeof value === 'string' && isSameSecret(value, secret))
}

function fromQuery(query: URLSearchParams): unknown {
  const parsed = webhookQuerySchema.safeParse(Object.fromEntries(query))
  return parsed.success ? { ...parsed.data, message: parseJson(parsed.data.message) } : undefined
}

async function fromBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too large'
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length
    if (bytes > maxBytes) return 'too large'
    chunks.push(chunk as Buffer)
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'))
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
