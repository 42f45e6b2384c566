import type { z } from 'zod'
import { operationMessageSchema } from '../contract/index.js'
import { HttpFault } from './http-fault.js'
import { retryAfterMs } from './retry.js'
import type { TextAnswer, TextExchange, TextTransport } from './transport.js'

interface JsonExchange<T> extends TextExchange {
  readonly answer: z.ZodType<T>
  /** Values that must not appear in a fault, even if the service repeats them. */
  readonly secrets: readonly string[]
}

/**
 * Sends one request whose response is JSON of the contract.
 *
 * @throws {HttpFault} `status` for a status outside 200-299, `bad-answer` if the body does not match the schema
 */
export async function exchangeJson<T>(transport: TextTransport, exchange: JsonExchange<T>): Promise<T> {
  const answer = await transport.sendText(exchange)
  const { operation, secrets } = exchange
  if (answer.status < 200 || answer.status > 299) throw statusFault(operation, answer, secrets)
  const parsed = exchange.answer.safeParse(parseJson(answer.text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const detail = answer.text === '' ? 'it is empty' : `${issue?.path.join('.') || 'the body'}: ${issue?.message}`
  throw new HttpFault({ operation, reason: 'bad-answer', detail: mask(detail, secrets) })
}

/** Creates the fault of an unsuccessful status, with the service's own message if it has one. */
export function statusFault(operation: string, answer: TextAnswer, secrets: readonly string[] = []): HttpFault {
  return new HttpFault({
    operation,
    reason: 'status',
    status: answer.status,
    retryAfterMs: retryAfterMs(answer.headers['retry-after']),
    detail: mask(wordsOf(answer.text), secrets),
  })
}

/** Returns undefined for text that is not JSON. No schema of the contract accepts that. */
function parseJson(text: string): unknown {
  try {
    // Some servers send a byte order mark, which JSON does not allow (RFC 8259, 8.1).
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

/** Message of a storage: `<Error><Code>…</Code><Message>…</Message></Error>`. */
const STORAGE_MESSAGE = /^\uFEFF?\s*<(?:\?xml|Error\b).*?<Message>([^<]*)</s

/**
 * Returns `message`, `error_description` (OAuth) or `error` of JSON, or the message of a storage. A page of HTML would not
 * help the user.
 */
export function wordsOf(text: string): string {
  const parsed = operationMessageSchema.safeParse(parseJson(text))
  const { message, error, error_description: description } = parsed.success ? parsed.data : {}
  const words =
    message ?? (typeof description === 'string' ? description : error) ?? STORAGE_MESSAGE.exec(text)?.[1] ?? ''
  return (
    words
      .trim()
      .split(/[\r\n]/, 1)[0]
      ?.replace(/\.\s*$/, '') ?? ''
  )
}

function mask(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((rest, secret) => rest.replaceAll(ORDINARY.test(secret) ? wholeWord(secret) : secret, '[redacted]'), text)
}

/** A secret that could be a word of a sentence, as people choose one for a test. */
const ORDINARY = /^[a-z]{1,11}$/i

/** Matches the word alone: a secret `file` does not take `profile` apart. It may follow an escape, as in `secret%3Dfile`. */
function wholeWord(word: string): RegExp {
  return new RegExp(`(?<=^|[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|\\\\[bfnrt])${word}(?![A-Za-z0-9])`, 'g')
}
