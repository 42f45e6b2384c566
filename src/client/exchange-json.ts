import type { z } from 'zod'
import { operationMessageSchema } from '../contract/index.js'
import { HttpFault } from './http-fault.js'
import { retryAfterMs } from './retry.js'
import type { TextAnswer, TextExchange, Transport } from './transport.js'

export interface JsonExchange<T> extends TextExchange {
  readonly answer: z.ZodType<T>
  /** Values that must not stand in a fault although the service repeats them. */
  readonly secrets: readonly string[]
}

/**
 * One exchange whose answer is JSON of the contract.
 *
 * @throws HttpFault `status` for anything but 200-299, `bad-answer` where the body is not what the schema says
 */
export async function exchangeJson<T>(transport: Transport, exchange: JsonExchange<T>): Promise<T> {
  const answer = await transport.sendText(exchange)
  const { operation, secrets } = exchange
  if (answer.status < 200 || answer.status > 299) throw statusFault(operation, answer, secrets)
  const parsed = exchange.answer.safeParse(parseJson(answer.text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const detail = answer.text === '' ? 'it is empty' : `${issue?.path.join('.') || 'the body'}: ${issue?.message}`
  throw new HttpFault({ operation, reason: 'bad-answer', detail: mask(detail, secrets) })
}

/** The fault of a status that is no success, with the service's own words where it has some. */
export function statusFault(operation: string, answer: TextAnswer, secrets: readonly string[] = []): HttpFault {
  return new HttpFault({
    operation,
    reason: 'status',
    status: answer.status,
    retryAfterMs: retryAfterMs(answer.headers['retry-after']),
    detail: mask(wordsOf(answer.text), secrets),
  })
}

/** undefined stands for a text that is not JSON: no schema of the contract accepts it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `message`, or `error` (OAuth's `error_description` too); a page of HTML says nothing to a person. */
function wordsOf(text: string): string {
  const parsed = operationMessageSchema.safeParse(parseJson(text))
  if (!parsed.success) return ''
  const { message, error, error_description: description } = parsed.data
  const words = message ?? (typeof description === 'string' ? description : error) ?? ''
  return words.split(/[\r\n]/, 1)[0]?.replace(/\.\s*$/, '') ?? ''
}

function mask(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
