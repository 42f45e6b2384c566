import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { assertPublicHost, publicLookup } from './address-guard.js'

interface GuardedRequest {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Connects to private addresses too, because an operator trusts the network. */
  readonly allowPrivate: boolean
  /** Time limit until the response's headers, and between two bytes afterwards, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Sends one request to an address that a user or client chose. Only http and https; no redirects, proxy or pooled
 * connection, so the checked address is the connected one.
 *
 * @throws {PrivateAddressError} or an error of `node:http`
 */
export async function guardedRequest(url: URL, asked: GuardedRequest): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('Only http and https are allowed.')
  if (!asked.allowPrivate) assertPublicHost(url)
  const options: RequestOptions = {
    method: asked.method,
    headers: { 'user-agent': 'voxmux', ...asked.headers },
    agent: false,
    signal: asked.signal,
    timeout: asked.idleTimeoutMs,
    ...(!asked.allowPrivate && { lookup: publicLookup }),
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, resolve)
    request.on('timeout', () => request.destroy(new Error('The other side stopped responding.')))
    request.on('error', reject)
    // As bytes: Node would join a string to the headers and encode both in its encoding.
    request.end(typeof asked.body === 'string' ? Buffer.from(asked.body) : asked.body)
  })
}
