import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { throwIfAborted } from '../core/abort.js'
import { toVoxmuxError } from '../core/errors.js'
import { sleep } from '../core/time.js'
import { safeAddress } from './address.js'
import { contentRange, type DownloadState, rangeHeaders, validatorOf } from './download-range.js'
import { statusFault } from './exchange-json.js'
import { faultError } from './fault-error.js'
import { HttpFault } from './http-fault.js'
import { pauseMs } from './retry.js'
import type { ServiceApi } from './service-api.js'
import type { StreamAnswer } from './transport.js'
import type { TransferContext, TransferOptions } from './upload-file.js'

/** Statuses by which storage says that a signed link is not, or no longer, good. */
const LINK_REFUSED = new Set([401, 403, 404, 410])
/** A link is given back this long before its expiry, so that it does not expire on the way. */
const EXPIRY_MARGIN_MS = 2_000

export interface Downloaded {
  /** The finished file. */
  readonly path: string
  readonly bytes: number
}

/**
 * Streams the output of a succeeded file to `targetPath`. Bytes go to `<targetPath>.part`, which is resumed after a
 * break (Range and If-Range), checked against the length announced, and renamed; a link that has expired is
 * asked for again. Whatever stood under either name is replaced; after a failure neither is left behind.
 *
 * @throws what getOutputFileUrl throws; TransientError where storage stays unreachable or refuses new links, too;
 *   `ERR_DISK_FULL` and the like for the disk
 */
export async function downloadFile(
  context: TransferContext,
  api: Pick<ServiceApi, 'getOutputFileUrl'>,
  fileId: string,
  targetPath: string,
  options: TransferOptions = {},
): Promise<Downloaded> {
  const partPath = `${targetPath}.part`
  let part: FileHandle | undefined
  try {
    part = await open(partPath, 'w')
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
  options: TransferOptions,
): Promise<number> {
  const { signal } = options
  const state: DownloadState = { writtenBytes: 0, totalBytes: null, validator: null }
  let link: { url: URL; expiresAtMs: number } | undefined
  for (let attempt = 0; ; attempt++) {
    throwIfAborted(signal)
    const before = state.writtenBytes
    if (!link || link.expiresAtMs - EXPIRY_MARGIN_MS <= Date.now()) {
      const { url, expiry } = await api.getOutputFileUrl(fileId, { signal })
      link = { url: safeAddress(url, 'The download link'), expiresAtMs: expiry * 1000 }
    }
    try {
      await readOn(part, context, link.url, state, options)
      return state.writtenBytes
    } catch (thrown) {
      if (!(thrown instanceof HttpFault)) throw thrown
      const refused = thrown.reason === 'status' && LINK_REFUSED.has(thrown.status ?? 0)
      // Bytes that came are progress: a long file over a bad line may break any number of times.
      if (state.writtenBytes > before) attempt = 0
      if (!(refused || thrown.transient) || attempt >= context.retry.limit) throw faultError(thrown, link.url.host)
      const delayMs = pauseMs(thrown, attempt, context.retry)
      context.logger.debug({ fault: thrown.message, attempt, delayMs, at: state.writtenBytes }, 'Download resumed')
      if (refused) link = undefined
      await sleep(delayMs, signal)
      context.transport.onRepeat?.('download')
    }
  }
}

/** One GET from where the part ends; returns when the file is whole. */
async function readOn(
  part: FileHandle,
  context: TransferContext,
  url: URL,
  state: DownloadState,
  { signal, onProgress }: TransferOptions,
): Promise<void> {
  const answer = await context.transport.getStream({
    operation: 'download',
    url: url.href,
    headers: rangeHeaders(state),
    signal,
  })
  await begin(part, answer, state)
  for await (const chunk of answer.bytes) {
    await writeAll(part, chunk, state.writtenBytes)
    state.writtenBytes += chunk.length
    onProgress?.({ transferredBytes: state.writtenBytes, totalBytes: state.totalBytes })
  }
  if (state.totalBytes !== null && state.writtenBytes !== state.totalBytes) {
    const detail = `${state.writtenBytes} of ${state.totalBytes} bytes came`
    if (state.writtenBytes > state.totalBytes) await restart(part, state)
    throw new HttpFault({ operation: 'download', reason: 'network', detail })
  }
}

/** Takes the answer's headers: a part that goes on, a file that starts anew, or a fault. */
async function begin(part: FileHandle, answer: StreamAnswer, state: DownloadState): Promise<void> {
  const { status, headers } = answer
  if (status === 206) {
    const range = contentRange(headers['content-range'])
    const fits = range?.startByte === state.writtenBytes && (state.totalBytes ?? range.totalBytes) === range.totalBytes
    if (fits) {
      state.totalBytes = range.totalBytes
      return
    }
    answer.discard()
    await restart(part, state)
    throw new HttpFault({ operation: 'download', reason: 'bad-answer', detail: 'another part of the file came' })
  }
  if (status === 200) {
    await restart(part, state)
    // A length under an encoding we did not ask for says nothing of the bytes we get.
    const length = headers['content-encoding'] ? undefined : headers['content-length']
    state.totalBytes = length === undefined ? null : Number(length)
    state.validator = validatorOf(headers)
    return
  }
  answer.discard()
  // 416: what is there cannot be gone on with; the next attempt asks for the whole.
  if (status === 416) await restart(part, state)
  if (status === 416 || (status >= 200 && status < 300)) {
    throw new HttpFault({ operation: 'download', reason: 'bad-answer', detail: `status ${status}` })
  }
  throw statusFault('download', { ...answer, text: '' })
}

async function restart(part: FileHandle, state: DownloadState): Promise<void> {
  if (state.writtenBytes > 0) await part.truncate(0)
  state.writtenBytes = 0
  state.totalBytes = null
  state.validator = null
}

async function writeAll(part: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let offset = 0; offset < chunk.length; ) {
    const { bytesWritten } = await part.write(chunk, offset, chunk.length - offset, position + offset)
    offset += bytesWritten
  }
}
