import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { throwIfAborted } from '../../core/abort.js'
import { toVoxmuxError } from '../../core/errors.js'
import { sleep } from '../../core/time.js'
import { safeAddress } from '../address.js'
import { statusFault } from '../exchange-json.js'
import { faultError, LINK_REFUSED } from '../fault-error.js'
import { HttpFault } from '../http-fault.js'
import { pauseMs } from '../retry.js'
import type { ServiceApi } from '../service-api.js'
import type { StreamAnswer } from '../transport.js'
import { contentRange, type DownloadState, rangeHeaders, validatorOf } from './download-range.js'
import { badDownload, plainBytes } from './plain-bytes.js'
import { HTML_TYPE } from './require-stored.js'
import type { TransferContext, TransferOptions } from './upload-file.js'

const HTML_START = /^\s*(<!doctype html|<html)/i
/** Every audio and video format has a byte in its first bytes that no text has. */
const HEAD_BYTES = 512
const NO_TEXT = /(?![\t\n\f\r])\p{Cc}/u
/** A link is replaced this long before its expiry, so that it does not expire on the way. */
const EXPIRY_MARGIN_MS = 2_000

export interface Downloaded {
  readonly path: string
  readonly bytes: number
}

export interface DownloadOptions extends TransferOptions {
  /** True for a file that is not an output of the service. By default, text and an empty file are not accepted. */
  readonly mayBeText?: boolean
  /** Called when a link was refused or sent something else, and a new one is requested. */
  readonly onRefused?: (fault: HttpFault) => void
}

/**
 * Streams the output of a succeeded file to `targetPath`. Writes to `<targetPath>.part`, resumes it after a break
 * (Range and If-Range), checks the announced length and renames it. Requests a new link if the link has expired.
 * Replaces existing files of both names; after a failure neither remains.
 *
 * @throws {TransientError} if storage stays unreachable, refuses new links too, or sends a web page, another text or
 * nothing each time
 * @throws every error of getOutputFileUrl; `ERR_DISK_FULL` and other disk errors
 */
export async function downloadFile(
  context: TransferContext,
  api: Pick<ServiceApi, 'getOutputFileUrl'>,
  fileId: string,
  targetPath: string,
  options: DownloadOptions = {},
): Promise<Downloaded> {
  const partPath = `${targetPath}.part`
  let part: FileHandle | undefined
  try {
    part = await open(partPath, 'w+')
    const bytes = await fill(part, context, api, fileId, options)
    await part.close()
    await rename(partPath, targetPath)
    return { path: targetPath, bytes }
  } catch (thrown) {
    await part?.close().catch(() => {})
    if (part) await rm(partPath, { force: true })
    throw toVoxmuxError(thrown, targetPath)
  }
}

async function fill(
  part: FileHandle,
  context: TransferContext,
  api: Pick<ServiceApi, 'getOutputFileUrl'>,
  fileId: string,
  options: DownloadOptions,
): Promise<number> {
  const { signal } = options
  const state: DownloadState = { writtenBytes: 0, totalBytes: null, validator: null, isEncoded: false }
  let furthestBytes = 0
  let link: { url: URL; expiresAtMs: number } | undefined
  for (let attempt = 0; ; attempt++) {
    throwIfAborted(signal)
    if (!link || link.expiresAtMs - EXPIRY_MARGIN_MS <= Date.now()) {
      const { url, expiry } = await api.getOutputFileUrl(fileId, { signal })
      link = { url: safeAddress(url, 'The download link'), expiresAtMs: expiry * 1000 }
    }
    try {
      const answer = await readOn(part, context, link.url, state, options)
      if (!options.mayBeText) await requireSound(part, answer, state)
      return state.writtenBytes
    } catch (thrown) {
      // Decoded bytes cannot be resumed: ranges count the encoded ones.
      if (state.isEncoded) await restart(part, state)
      if (!(thrown instanceof HttpFault)) throw thrown
      const refused = thrown.reason === 'status' && LINK_REFUSED.has(thrown.status ?? 0)
      // New bytes are progress: a long file over a bad line may break any number of times.
      if (state.writtenBytes > furthestBytes) attempt = 0
      furthestBytes = Math.max(furthestBytes, state.writtenBytes)
      if (!(refused || thrown.transient) || attempt >= context.retry.limit) throw faultError(thrown, link.url.host)
      const delayMs = pauseMs(thrown, attempt, context.retry)
      context.logger.debug({ fault: thrown.message, attempt, delayMs, at: state.writtenBytes }, 'Download resumed')
      if (refused || thrown.reason === 'bad-answer') {
        options.onRefused?.(thrown)
        link = undefined
      }
      await sleep(delayMs, signal)
      context.transport.onRepeat?.('download')
    }
  }
}

/** Sends one GET for the bytes after the part. Returns when the file is complete. */
async function readOn(
  part: FileHandle,
  context: TransferContext,
  url: URL,
  state: DownloadState,
  { signal, onProgress }: TransferOptions,
): Promise<StreamAnswer> {
  const answer = await context.transport.getStream({
    operation: 'download',
    url: url.href,
    headers: rangeHeaders(state),
    signal,
  })
  await begin(part, answer, state)
  for await (const chunk of plainBytes(answer)) {
    if (state.writtenBytes === 0 && HTML_START.test(chunk.toString('latin1', 0, 64))) throw webPage(answer)
    await writeAll(part, chunk, state.writtenBytes)
    state.writtenBytes += chunk.length
    onProgress?.({ transferredBytes: state.writtenBytes, totalBytes: state.totalBytes })
  }
  if (state.totalBytes !== null && state.writtenBytes !== state.totalBytes) {
    const detail = `${state.writtenBytes} of ${state.totalBytes} bytes arrived`
    if (state.writtenBytes > state.totalBytes) await restart(part, state)
    throw new HttpFault({ operation: 'download', reason: 'network', detail })
  }
  return answer
}

/** Refuses what a proxy sends in place of the file. Taken for an output, it would lead to another payment. */
async function requireSound(part: FileHandle, answer: StreamAnswer, state: DownloadState): Promise<void> {
  const { buffer, bytesRead } = await part.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  if (bytesRead > 0 && !isText(buffer.subarray(0, bytesRead))) return
  await restart(part, state)
  throw badDownload(`${bytesRead === 0 ? 'an empty file' : 'text'} instead of the file, from ${answer.address}`)
}

function isText(head: Buffer): boolean {
  try {
    // As a stream, because the last character may go on behind the head.
    return !NO_TEXT.test(new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }))
  } catch {
    return false
  }
}

/** Reads the response headers: the part continues, the file restarts, or the download fails. */
async function begin(part: FileHandle, answer: StreamAnswer, state: DownloadState): Promise<void> {
  const { status, headers } = answer
  if (status === 206) {
    const range = contentRange(headers['content-range'])
    const isPlain = !headers['content-encoding']
    const fits =
      isPlain && range?.startByte === state.writtenBytes && (state.totalBytes ?? range.totalBytes) === range.totalBytes
    if (fits) {
      state.totalBytes = range.totalBytes
      return
    }
    answer.discard()
    await restart(part, state)
    throw badDownload('the response is another part of the file')
  }
  if (status === 200) {
    await restart(part, state)
    if (HTML_TYPE.test(headers['content-type'] ?? '')) {
      answer.discard()
      throw webPage(answer)
    }
    // With an encoding, neither length nor range describes the written bytes.
    state.isEncoded = Boolean(headers['content-encoding'])
    if (state.isEncoded) return
    const length = headers['content-length']
    state.totalBytes = length === undefined ? null : Number(length)
    state.validator = validatorOf(headers)
    return
  }
  answer.discard()
  // 416: the existing part cannot be resumed. The next attempt requests the whole file.
  if (status === 416) await restart(part, state)
  if (status === 416 || (status >= 200 && status < 300)) {
    throw badDownload(`status ${status}`)
  }
  throw statusFault('download', { ...answer, text: '' })
}

function webPage({ address }: StreamAnswer): HttpFault {
  return badDownload(`a web page instead of the file, from ${address}`)
}

async function restart(part: FileHandle, state: DownloadState): Promise<void> {
  if (state.writtenBytes > 0) await part.truncate(0)
  state.writtenBytes = 0
  state.totalBytes = null
  state.validator = null
  state.isEncoded = false
}

async function writeAll(part: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let offset = 0; offset < chunk.length; ) {
    const { bytesWritten } = await part.write(chunk, offset, chunk.length - offset, position + offset)
    offset += bytesWritten
  }
}
