import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { got, MaxRedirectsError, type OptionsInit, type Request, RequestError, TimeoutError } from 'got'
import { throwIfAborted } from '../core/abort.js'
import { InterruptedError, VoxmuxError } from '../core/errors.js'
import { thrownMessage } from '../core/thrown-message.js'
import { safeAddress } from './address.js'
import type { TimeoutOptions } from './client-options.js'
import { HttpFault } from './http-fault.js'
import { linkedAbort } from './linked-abort.js'
import { USER_AGENT } from './user-agent.js'

/** Answers of the API are small; one that is larger is not read to its end. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_REDIRECTS = 5

export interface Exchange {
  /** Names the exchange in faults: an operation, `token`, `upload` or `download`. */
  readonly operation: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal | undefined
}

export interface TextExchange extends Exchange {
  readonly method: 'GET' | 'POST'
  /** At most one of the two: a JSON body or form fields. */
  readonly json?: unknown
  readonly form?: Record<string, string>
}

export interface UploadExchange extends Exchange {
  readonly body: Readable
  /** Bytes that `body` will give: storage refuses a PUT without a length. */
  readonly contentLength: number
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}
export interface TextAnswer extends Answer {
  readonly text: string
}
export interface StreamAnswer extends Answer {
  /** To be read to its end, or given back with `discard`. Throws {@link HttpFault}. */
  readonly bytes: AsyncIterable<Buffer>
  discard(): void
}

/** Single exchanges over HTTP, without repeats: any status is an answer, anything else throws {@link HttpFault}. */
export interface Transport {
  sendText(exchange: TextExchange): Promise<TextAnswer>
  putStream(exchange: UploadExchange): Promise<TextAnswer>
  getStream(exchange: Exchange): Promise<StreamAnswer>
  /** Told by whoever sends a failed exchange once more. */
  onRepeat?(operation: string): void
}

/** The only place that talks HTTP as a client; got's own retries are off, since they do not see our bodies. */
export function createTransport(timeouts: TimeoutOptions): Transport {
  const connect = { lookup: timeouts.connectMs, connect: timeouts.connectMs, secureConnect: timeouts.connectMs }
  const client = got.extend({
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    headers: { 'user-agent': USER_AGENT },
  })

  return {
    async sendText(exchange) {
      const { method, json, form } = exchange
      const stop = new AbortController()
      const linked = linkedAbort(exchange.signal, stop.signal)
      const request = client(exchange.url, {
        ...common(exchange, linked.signal),
        method,
        ...(json === undefined ? {} : { json }),
        ...(form === undefined ? {} : { form }),
        timeout: { ...connect, request: timeouts.answerMs },
        responseType: 'text',
      })
      request.on('downloadProgress', ({ transferred }: { transferred: number }) => {
        if (transferred > MAX_ANSWER_BYTES) stop.abort()
      })
      try {
        const { statusCode, headers, body } = await request
        return { status: statusCode, headers, text: body }
      } catch (thrown) {
        if (stop.signal.aborted) {
          throw new HttpFault({ operation: exchange.operation, reason: 'bad-answer', detail: 'the body is too large' })
        }
        throw faultOf(thrown, exchange)
      } finally {
        linked.release()
      }
    },

    async putStream(exchange) {
      const request = client.put(exchange.url, {
        ...common(exchange),
        headers: { ...exchange.headers, 'content-length': String(exchange.contentLength) },
        body: exchange.body,
        timeout: { ...connect, socket: timeouts.idleMs },
        responseType: 'text',
      })
      try {
        const { statusCode, headers, body } = await request
        return { status: statusCode, headers, text: body }
      } catch (thrown) {
        throw faultOf(thrown, exchange)
      } finally {
        exchange.body.destroy()
      }
    },

    async getStream(exchange) {
      const stream = client.stream(exchange.url, {
        ...common(exchange),
        headers: { ...exchange.headers, 'accept-encoding': 'identity' },
        decompress: false,
        followRedirect: true,
        maxRedirects: MAX_REDIRECTS,
        hooks: { beforeRedirect: [(options) => void safeAddress(String(options.url), 'A redirect of the download')] },
        timeout: { ...connect, socket: timeouts.idleMs },
      })
      const { statusCode, headers } = await responseOf(stream, exchange)
      return { status: statusCode, headers, bytes: bytesOf(stream, exchange), discard: () => stream.destroy() }
    },
  }
}

function common(exchange: Exchange, signal = exchange.signal): OptionsInit & { isStream?: never } {
  throwIfAborted(exchange.signal)
  return { headers: exchange.headers ?? {}, ...(signal ? { signal } : {}) }
}

function responseOf(
  stream: Request,
  exchange: Exchange,
): Promise<{ statusCode: number; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    // Stays for good: an error between the headers and the first read must not be an unhandled one.
    stream.on('error', (thrown: unknown) => reject(faultOf(thrown, exchange)))
    stream.once('response', resolve)
  })
}

async function* bytesOf(stream: Request, exchange: Exchange): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer
  } catch (thrown) {
    throw faultOf(thrown, exchange)
  } finally {
    stream.destroy()
  }
}

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'])
const UNSENT_TIMEOUTS = new Set(['lookup', 'connect', 'secureConnect'])

/** Keeps what may be said of an error of the HTTP library; the error itself holds headers and links. */
function faultOf(thrown: unknown, exchange: Exchange): Error {
  const { operation, signal } = exchange
  if (signal?.aborted) return new InterruptedError('Interrupted.', { cause: signal.reason })
  const origin = thrown instanceof RequestError ? thrown.cause : thrown
  if (origin instanceof VoxmuxError && !(thrown instanceof MaxRedirectsError)) {
    if (origin.code === 'ERR_INSECURE_ADDRESS' || origin.code === 'ERR_BAD_ADDRESS') {
      return new HttpFault({ operation, reason: 'insecure', detail: origin.message })
    }
    return origin
  }
  if (thrown instanceof TimeoutError) {
    const reason = UNSENT_TIMEOUTS.has(thrown.event) ? 'unsent' : 'timeout'
    return new HttpFault({ operation, reason, detail: 'it did not answer in time' })
  }
  const code = (thrown as NodeJS.ErrnoException).code ?? ''
  const detail = thrownMessage(thrown)
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code)) {
    return new HttpFault({ operation, reason: 'insecure', detail })
  }
  return new HttpFault({ operation, reason: UNSENT.has(code) ? 'unsent' : 'network', detail })
}
