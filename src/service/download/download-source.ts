import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { guardedRequest } from '../../core/address-guard.js'
import { redactUrl } from '../../core/redact.js'
import { fileError } from '../engine/file-error.js'
import type { ServiceSettings } from '../service-settings.js'

interface DownloadOptions {
  readonly limits: ServiceSettings['download']
  readonly maxBytes: number
  readonly idleTimeoutMs: number
  readonly allowPrivateUrls: boolean
  readonly signal: AbortSignal
}

/**
 * Downloads a file that a client registered by its address, and streams the bytes to `store`.
 *
 * @throws {JobFailedError} `ERR_DOWNLOAD_FAILED` with file error code -17 for every fault of the download; an error of
 * `store` itself, such as a full disk, is thrown unchanged
 */
export async function downloadSource(
  sourceUrl: string,
  options: DownloadOptions,
  store: (source: Readable, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const deadline = AbortSignal.timeout(options.limits.totalTimeoutMs)
  const signal = AbortSignal.any([options.signal, deadline])
  try {
    await store(await openSource(sourceUrl, { ...options, signal }), signal)
  } catch (error) {
    if (options.signal.aborted || !(error instanceof SourceFault || deadline.aborted)) throw error
    const message = `${redactUrl(sourceUrl)} could not be downloaded.`
    throw fileError(-17, 'ERR_DOWNLOAD_FAILED', message, { cause: error })
  }
}

/** A fault of the source, as opposed to the disk's. */
class SourceFault extends Error {}

async function openSource(sourceUrl: string, options: DownloadOptions): Promise<Readable> {
  try {
    const answer = await followed(new URL(sourceUrl), options)
    assertAcceptable(answer, options.maxBytes)
    // A generator is idle until it has a reader, so it cannot fail before.
    return Readable.from(measured(answer, options.maxBytes), { objectMode: false })
  } catch (cause) {
    throw new SourceFault('The source cannot be read.', { cause })
  }
}

/** Follows a few redirects. Each new address passes the same guard. */
async function followed(start: URL, options: DownloadOptions): Promise<IncomingMessage> {
  let url = start
  for (let redirects = 0; redirects <= options.limits.maxRedirects; redirects += 1) {
    const answer = await guardedRequest(url, {
      method: 'GET',
      // Ask for the file as it is stored: a compressed transfer could hide its size.
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      allowPrivate: options.allowPrivateUrls,
      idleTimeoutMs: Math.max(options.limits.connectTimeoutMs, options.idleTimeoutMs),
      signal: options.signal,
    })
    const status = answer.statusCode ?? 0
    if (status === 200) return answer
    answer.destroy()
    const { location } = answer.headers
    if (![301, 302, 303, 307, 308].includes(status) || !location)
      throw new Error(`The address responded with status ${status}.`)
    url = new URL(location, url)
  }
  throw new Error('The address redirects too often.')
}

function assertAcceptable(answer: IncomingMessage, maxBytes: number): void {
  const isEncoded = (answer.headers['content-encoding'] ?? 'identity') !== 'identity'
  const isTooLarge = Number(answer.headers['content-length'] ?? 0) > maxBytes
  if (!isEncoded && !isTooLarge) return
  answer.destroy()
  throw new Error(isEncoded ? 'The response has a content encoding.' : 'The file is too large.')
}

/** Counts the bytes: more than the limit or less than announced is an error. */
async function* measured(answer: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const announced = answer.headers['content-length']
  let seen = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      seen += chunk.length
      if (seen > maxBytes) throw new Error('The file is too large.')
      yield chunk
    }
    if (!answer.complete || (announced !== undefined && seen !== Number(announced)))
      throw new Error('The download ended early.')
  } catch (cause) {
    throw new SourceFault('The source could not be read to its end.', { cause })
  }
}
