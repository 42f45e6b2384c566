import { Agent, type ClientRequest, type IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { CancelableRequest, GotReturn, OptionsInit, Request, Response } from 'got'
import { linkedAbort, throwIfAborted } from '../core/abort.js'
import { InterruptedError, VoxmuxError } from '../core/errors.js'
import { voxmuxVersion } from '../core/package-folder.js'
import { openedOnce } from '../core/waiting.js'
import { safeRedirect } from './address.js'
import type { TimeoutOptions } from './client-options.js'
import { HttpFault } from './http-fault.js'
import { networkFault } from './network-fault.js'
import { asksForHttps, speaksTls } from './speaks-tls.js'
import { type StallWatch, watchStalls } from './stalled-transfer.js'

/** `voxmux/<version>`, sent with every request. */
const USER_AGENT = `voxmux/${voxmuxVersion()}`

/** Responses of API and storage are small. A larger one is not read to its end. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_REDIRECTS = 5
/** Time for which an unused connection stays open: that of Node's default agent. */
const IDLE_SOCKET_MS = 5000
/** Longest wait for the consent of a server to a body. Old ones do not know the question. */
const CONSENT_MS = 2000

export interface Exchange {
  /** Name of the request in faults: an operation, `token`, `upload` or `download`. */
  readonly operation: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal | undefined
}

export interface TextExchange extends Exchange {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** At most one of the two: a JSON body or form fields. */
  readonly json?: unknown
  readonly form?: Record<string, string>
}

export interface UploadExchange extends Exchange {
  readonly body: Readable
  /** Length of `body`: storage refuses a PUT without a length. */
  readonly contentLength: number
  /** Waits for the consent of the server before the body is sent (Expect: 100-continue). */
  readonly asksFirst?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}
export interface TextAnswer extends Answer {
  readonly text: string
}
export interface StreamAnswer extends Answer {
  /** Final address after redirects, without its query. */
  readonly address: string
  /** Read it to its end, or call `discard`. Throws {@link HttpFault}. */
  readonly bytes: AsyncIterable<Buffer>
  discard(): void
}

/** Sends one HTTP request without retries. Any status is a response; anything else throws {@link HttpFault}. */
export interface TextTransport {
  sendText(exchange: TextExchange): Promise<TextAnswer>
  /** Called by the code that retries a failed request. */
  onRepeat?(operation: string): void
}

/** A {@link TextTransport} that also sends and receives files. */
export interface Transport extends TextTransport {
  putStream(exchange: UploadExchange): Promise<TextAnswer>
  getStream(exchange: Exchange): Promise<StreamAnswer>
}

/** Loaded with the first request: it takes a fifth of a command's start, and many commands send nothing. */
let library!: typeof import('got')

/** Loads what requests need. */
export async function loadTransport(): Promise<void> {
  library = await import('got')
}

/** Creates the only HTTP client. got's own retries are off, because they cannot restart our bodies. */
export function createTransport(timeouts: TimeoutOptions): Transport {
  const { opened } = openedOnce(openClient)
  return {
    sendText: async (exchange) => sendText(await opened(), exchange, timeouts),
    putStream: async (exchange) => putStream(await opened(), exchange, timeouts),
    getStream: async (exchange) => getStream(await opened(), exchange, timeouts),
  }
}

type Client = Awaited<ReturnType<typeof openClient>>

async function openClient() {
  await loadTransport()
  return library.got.extend({
    // Plain http stays on this machine. Node's default agent would send it to the proxy of the environment.
    agent: { http: new Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS }) },
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    headers: { 'user-agent': USER_AGENT },
    handlers: [(options, next) => failingIfSwitched(next(options))],
  })
}

/** Fails if the server switches to another protocol (101): neither Node nor got takes that for an end of the request. */
function failingIfSwitched<T extends GotReturn>(call: T): T {
  const requests = call as Request
  requests.on('request', (sent: ClientRequest) => {
    sent.once('upgrade', (_response, socket) => {
      socket.destroy()
      sent.emit('error', new Error('the server switched to another protocol'))
    })
  })
  return call
}

async function sendText(client: Client, exchange: TextExchange, timeouts: TimeoutOptions): Promise<TextAnswer> {
  const { method, json, form } = exchange
  return textAnswer(exchange, (signal) =>
    client(exchange.url, {
      ...common(exchange, signal),
      method,
      json,
      ...(form === undefined ? {} : { form }),
      timeout: { ...untilConnected(timeouts), request: timeouts.answerMs },
      responseType: 'text',
    }),
  )
}

async function putStream(client: Client, exchange: UploadExchange, timeouts: TimeoutOptions): Promise<TextAnswer> {
  const { operation, asksFirst = false, contentLength } = exchange
  const consent = new AbortController()
  const body = asksFirst ? Readable.from(heldBack(exchange.body, consent.signal), { objectMode: false }) : exchange.body
  const watch = watchStalls(operation, timeouts.idleMs, exchange.signal)
  let sentBytes = 0
  const expect = asksFirst ? { expect: '100-continue' } : {}
  try {
    return await textAnswer({ ...exchange, signal: watch.signal }, (signal) => {
      const request = client.put(exchange.url, {
        ...common(exchange, signal),
        headers: { ...exchange.headers, ...expect, 'content-length': String(contentLength) },
        body,
        // A large file may take hours, but not the response to it.
        timeout: { ...untilConnected(timeouts), socket: timeouts.idleMs, read: timeouts.answerMs },
        responseType: 'text',
      })
      request.on('request', (sent: ClientRequest) => void sent.once('continue', () => consent.abort()))
      request.on('uploadProgress', ({ transferred }: { transferred: number }) => {
        watch.moved(transferred - sentBytes)
        sentBytes = transferred
      })
      return request
    })
  } finally {
    watch.release()
    body.destroy()
    exchange.body.destroy()
  }
}

/** The bytes of a body, from the moment at which the server consents. A server that does not say so gets them later. */
async function* heldBack(body: Readable, consent: AbortSignal): AsyncGenerator<Buffer> {
  await setTimeout(CONSENT_MS, undefined, { signal: consent, ref: false }).catch(() => {})
  for await (const chunk of body) yield chunk as Buffer
}

/** Receives a response as text. A larger one than those of the API ends the request. */
async function textAnswer(
  exchange: Exchange,
  send: (signal: AbortSignal) => CancelableRequest<Response<string>>,
): Promise<TextAnswer> {
  const { operation } = exchange
  const linked = linkedAbort(exchange.signal)
  try {
    const request = send(linked.signal)
    request.on('downloadProgress', ({ transferred }: { transferred: number }) => {
      if (transferred <= MAX_ANSWER_BYTES) return
      linked.controller.abort(new HttpFault({ operation, reason: 'bad-answer', detail: 'the body is too large' }))
    })
    const { statusCode, headers, body } = await request
    const answer = { status: statusCode, headers, text: body }
    if (asksForHttps(exchange.url, answer)) throw wrongScheme(exchange)
    return answer
  } catch (thrown) {
    const fault = faultOf(thrown, { ...exchange, signal: linked.signal })
    const isBroken = fault instanceof HttpFault && fault.reason === 'network'
    throw isBroken && (await speaksTls(exchange.url)) ? wrongScheme(exchange) : fault
  } finally {
    linked.release()
  }
}

function wrongScheme({ operation }: Exchange): HttpFault {
  return new HttpFault({ operation, reason: 'insecure', detail: 'the server speaks https there' })
}

async function getStream(client: Client, asked: Exchange, timeouts: TimeoutOptions): Promise<StreamAnswer> {
  throwIfAborted(asked.signal)
  const watch = watchStalls(asked.operation, timeouts.idleMs, asked.signal)
  const exchange = { ...asked, signal: watch.signal }
  const stream = client.stream(exchange.url, {
    ...common(exchange),
    headers: { ...exchange.headers, 'accept-encoding': 'identity' },
    decompress: false,
    followRedirect: true,
    maxRedirects: MAX_REDIRECTS,
    hooks: { beforeRedirect: [(options, answer) => void safeRedirect(answer.url, String(options.url))] },
    timeout: { ...untilConnected(timeouts), socket: timeouts.idleMs },
  })
  stream.once('close', watch.release)
  const { statusCode, headers, url } = await responseOf(stream, exchange)
  return {
    ...{ status: statusCode, headers, address: withoutQuery(url) },
    ...{ bytes: bytesOf(stream, exchange, watch.moved), discard: () => stream.destroy() },
  }
}

function untilConnected({ connectMs }: TimeoutOptions) {
  return { lookup: connectMs, connect: connectMs, secureConnect: connectMs }
}

function common(exchange: Exchange, signal = exchange.signal): OptionsInit & { isStream?: never } {
  throwIfAborted(exchange.signal)
  return { headers: exchange.headers ?? {}, ...(signal ? { signal } : {}) }
}

function responseOf(
  stream: Request,
  exchange: Exchange,
): Promise<{ statusCode: number; headers: IncomingHttpHeaders; url: string }> {
  return new Promise((resolve, reject) => {
    // Never removed: an error between the headers and the first read must not be unhandled.
    stream.on('error', (thrown: unknown) => reject(faultOf(thrown, exchange)))
    stream.once('response', resolve)
  })
}

function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

async function* bytesOf(stream: Request, exchange: Exchange, moved: StallWatch['moved']): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      moved(chunk.length)
      yield chunk
    }
  } catch (thrown) {
    throw faultOf(thrown, exchange)
  } finally {
    stream.destroy()
  }
}

const UNSENT_TIMEOUTS = new Set(['lookup', 'connect', 'secureConnect'])

/** Describes the target of a redirect by the code of the error. Each first address was checked before. */
const REDIRECTS: ReadonlyMap<string, (error: Error) => string> = new Map([
  ['ERR_UNSUPPORTED_PROTOCOL', ({ message }) => `a "${/: (\S+):/.exec(message)?.[1]}" address`],
  ['ERR_INVALID_URL', () => 'an invalid address'],
])

/** Extracts the harmless parts of an HTTP library error. The error itself contains headers and links. */
function faultOf(thrown: unknown, exchange: Exchange): Error {
  const { operation, signal } = exchange
  if (signal?.aborted && signal.reason instanceof HttpFault) return signal.reason
  if (signal?.aborted) return new InterruptedError('Interrupted.', { cause: signal.reason })
  if (thrown instanceof HttpFault) return thrown
  const origin = thrown instanceof library.RequestError ? thrown.cause : thrown
  if (origin instanceof VoxmuxError && !(thrown instanceof library.MaxRedirectsError)) {
    if (origin.code === 'ERR_INSECURE_ADDRESS' || origin.code === 'ERR_BAD_ADDRESS') {
      return new HttpFault({ operation, reason: 'insecure', detail: origin.message })
    }
    return origin
  }
  if (thrown instanceof library.TimeoutError) {
    const reason = UNSENT_TIMEOUTS.has(thrown.event) ? 'unsent' : 'timeout'
    return new HttpFault({ operation, reason, detail: 'no response in time', unusedProxy: unusedProxy(process.env) })
  }
  const redirect = REDIRECTS.get((thrown as NodeJS.ErrnoException).code ?? '')
  if (redirect) return new HttpFault({ operation, reason: 'redirect', detail: redirect(thrown as Error) })
  return networkFault(operation, thrown, unusedProxy(process.env))
}

/** The variable with a proxy that Node was not told to use, or is too old to use, if there is one. */
function unusedProxy(env: NodeJS.ProcessEnv): string | undefined {
  if (env.NODE_USE_ENV_PROXY === '1' && process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) return undefined
  return ['HTTPS_PROXY', 'https_proxy'].find((variable) => env[variable])
}
