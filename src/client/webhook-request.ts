import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type SecretPosition, type WebhookBody, webhookBodySchema, webhookQuerySchema } from '../contract/index.js'

/** What a request turned out to be: a message, or the HTTP status that refuses it. */
export type WebhookReading = { readonly body: WebhookBody } | { readonly refused: 400 | 401 | 405 | 413 }

export interface WebhookReadingOptions {
  /** What the sender must know; undefined where none is configured. */
  readonly secret: string | undefined
  /** The one place where the secret counts; undefined for any of them. */
  readonly secretPosition: SecretPosition | undefined
  readonly maxBodyBytes: number
}

/** Reads a webhook request of any method and secret position (interface, "Events"). */
export async function readWebhook(request: IncomingMessage, options: WebhookReadingOptions): Promise<WebhookReading> {
  const { method } = request
  if (method !== 'POST' && method !== 'PUT' && method !== 'GET') return { refused: 405 }
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams
  const inHeader = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const early = [
    { position: 'header', value: inHeader },
    // A header's bytes are read one a character: of a secret beyond ASCII they are its UTF-8.
    { position: 'header', value: inHeader && Buffer.from(inHeader, 'latin1').toString('utf8') },
    { position: 'query', value: query.get('secret') ?? undefined },
  ] as const
  const { secret, secretPosition } = options
  const counts = (position: SecretPosition) => secretPosition === undefined || secretPosition === position
  const known = early.some(({ position, value }) => counts(position) && matches(value, secret))
  // Nobody's body is read who could have shown the secret before and did not.
  if (!known && (method === 'GET' || !counts('body'))) return { refused: 401 }
  const read = method === 'GET' ? fromQuery(query) : await fromBody(request, options.maxBodyBytes)
  if (read === 'too large') return { refused: 413 }
  const inBody = (read as { secret?: unknown } | undefined)?.secret
  if (!known && !matches(typeof inBody === 'string' ? inBody : undefined, secret)) return { refused: 401 }
  const body = webhookBodySchema.safeParse(read)
  return body.success ? { body: body.data } : { refused: 400 }
}

/** Compares in constant time: the hashes have one length, whatever was sent. */
function matches(value: string | undefined, secret: string | undefined): boolean {
  if (secret === undefined) return true
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(value ?? ''), hash(secret)) && value !== undefined
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
