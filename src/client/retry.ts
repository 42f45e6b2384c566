import { throwIfAborted } from '../core/abort.js'
import type { Logger } from '../core/logger.js'
import { backoffMs, sleep } from '../core/time.js'
import type { RetryOptions } from './client-options.js'
import { HttpFault } from './http-fault.js'
import type { TextTransport } from './transport.js'

/**
 * Reads a Retry-After header: whole seconds or an HTTP date (RFC 9110, 10.2.3).
 *
 * @returns milliseconds from `nowMs`, never negative; undefined if the header is missing or invalid
 */
export function retryAfterMs(header: string | undefined, nowMs: number = Date.now()): number | undefined {
  if (header === undefined) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}

/** Pause before retry number `attempt` (from 0): the back-off, or longer if the service requests it. */
export function pauseMs(fault: HttpFault, attempt: number, retry: RetryOptions): number {
  const own = backoffMs(attempt, retry.baseMs, retry.maxMs)
  const asked = Math.min(fault.retryAfterMs ?? 0, retry.retryAfterMaxMs)
  return Math.max(own, asked)
}

export interface RetryContext {
  readonly retry: RetryOptions
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
  /** Decides whether a transient fault is retried. Default: always. */
  readonly mayRepeat?: ((fault: HttpFault) => boolean) | undefined
  /** The transport of the request. Its `onRepeat` is called for each retry. */
  readonly transport: Pick<TextTransport, 'onRepeat'>
}

/**
 * Retries a request until it succeeds, its fault is not transient, or the retries are used up.
 *
 * @throws the last {@link HttpFault}, or any other error of `exchange`
 */
export async function withRetries<T>(exchange: () => Promise<T>, context: RetryContext): Promise<T> {
  const { retry, logger, signal, transport, mayRepeat = () => true } = context
  for (let attempt = 0; ; attempt++) {
    throwIfAborted(signal)
    try {
      return await exchange()
    } catch (thrown) {
      if (!(thrown instanceof HttpFault) || !thrown.transient || !mayRepeat(thrown) || attempt >= retry.limit)
        throw thrown
      const delayMs = pauseMs(thrown, attempt, retry)
      logger.debug({ fault: thrown.message, attempt, delayMs }, 'Request repeated')
      await sleep(delayMs, signal)
      transport.onRepeat?.(thrown.operation)
    }
  }
}
