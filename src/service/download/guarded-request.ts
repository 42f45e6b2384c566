import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { assertPublicHost, publicLookup } from './address-guard.js'

export interface GuardedRequest {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Connects to anything: for a network that its operator trusts, and for receivers that are our own. */
  readonly allowPrivate: boolean
  /** Time until the answer's headers are there, and without a byte afterwards, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly signal: AbortSignal
}

/**
 * One request to an address that somebody else chose. Only http and https; no redirects, no proxy, no pooled
 * connection: what is checked is what is connected to.
 *
 * @throws PrivateAddressError, or what `node:http` throws
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
    request.on('timeout', () => request.destroy(new Error('The other side went silent.')))
    request.on('error', reject)
    // As bytes: a text would be joined to the headers, and they be written in its encoding.
    request.end(asked.body === undefined ? undefined : Buffer.from(asked.body))
  })
}
