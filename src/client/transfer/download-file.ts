import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { throwIfAborted } from '../../core/abort.js'
import { TransientError, toVoxmuxError, withPath } from '../../core/errors.js'
import { sleep } from '../../core/time.js'
import { safeAddress } from '../address.js'
import { faultError, refusesLink } from '../fault-error.js'
import { HttpFault } from '../http-fault.js'
import { pauseMs } from '../retry.js'
import type { ServiceApi } from '../service-api.js'
import { MIN_WINDOW_BYTES } from '../stalled-transfer.js'
import { DownloadPart, OversizeError } from './download-part.js'
import type { TransferContext, TransferOptions } from './upload-file.js'

/** A link is replaced this long before its expiry, so that it does not expire on the way. */
const EXPIRY_MARGIN_MS = 2_000

/** An output, and where its links come from. */
interface DownloadSource {
  readonly api: Pick<ServiceApi, 'getOutputFileUrl'>
  readonly fileId: string
}

export interface Downloaded {
  readonly path: string
  readonly bytes: number
}

export interface DownloadOptions extends TransferOptions {
  /** Length above which the file cannot be the right one. A body may have no end. Default: no limit. */
  readonly maxBytes?: number | undefined
}

interface AnyFileOptions extends DownloadOptions {
  /** True for a file that is not an output of the service. By default, text and an empty file are not accepted. */
  readonly mayBeText?: boolean
  /** Called when a link was refused or sent something else, and a new one is requested. */
  readonly onRefused?: (fault: HttpFault) => void
}

/**
 * Streams the output of a succeeded file to `targetPath`. Writes to a hidden file beside it, resumes that after a break
 * (Range and If-Range), checks the announced length and renames it. Requests a new link if the link has expired.
 * Replaces an existing target; a failure leaves it as it was, and nothing else behind.
 *
 * @throws {TransientError} if storage stays unreachable, refuses new links too, or sends a web page, another text or
 * nothing each time; `ERR_DOWNLOAD_TOO_LARGE` above `maxBytes`
 * @throws every error of getOutputFileUrl; `ERR_DISK_FULL` and other disk errors
 */
export async function downloadFile(
  source: DownloadSource,
  targetPath: string,
  context: TransferContext,
  options: AnyFileOptions,
): Promise<Downloaded> {
  // Short, as the target's name may be the longest; its own, as another download may have the same target.
  const partPath = join(dirname(targetPath), `.voxmux-${randomUUID()}.part`)
  let part: FileHandle | undefined
  try {
    part = await open(partPath, 'wx+')
    const bytes = await fill(new DownloadPart(part, options.maxBytes), source, context, options)
    await part.close()
    await rename(partPath, targetPath)
    return { path: targetPath, bytes }
  } catch (thrown) {
    await part?.close().catch(() => {})
    if (part) await rm(partPath, { force: true })
    throw toVoxmuxError(withPath(thrown, targetPath), targetPath)
  }
}

async function fill(
  part: DownloadPart,
  { api, fileId }: DownloadSource,
  context: TransferContext,
  options: AnyFileOptions,
): Promise<number> {
  const { signal } = options
  let furthestBytes = 0
  let link: { url: URL; expiresAtMs: number } | undefined
  for (let attempt = 0; ; attempt++) {
    throwIfAborted(signal)
    if (!link || link.expiresAtMs - EXPIRY_MARGIN_MS <= Date.now()) {
      const { url, expiry } = await api.getOutputFileUrl(fileId, { signal })
      link = { url: safeAddress(url, 'The download link'), expiresAtMs: expiry * 1000 }
    }
    try {
      return await part.complete(link.url, context, options)
    } catch (thrown) {
      // Decoded bytes cannot be resumed: ranges count the encoded ones.
      if (part.isEncoded) await part.restart()
      if (thrown instanceof OversizeError) throw tooLarge(thrown, link.url.host, fileId)
      if (!(thrown instanceof HttpFault)) throw thrown
      const { writtenBytes } = part
      // New bytes are progress: a long file over a bad line may break any number of times. A few are not: they may drip.
      if (writtenBytes - furthestBytes >= MIN_WINDOW_BYTES) {
        furthestBytes = writtenBytes
        attempt = 0
      }
      const refused = refusesLink(thrown)
      if (!(refused || thrown.transient) || attempt >= context.retry.limit) throw faultError(thrown, link.url.host)
      const delayMs = pauseMs(thrown, attempt, context.retry)
      context.logger.debug({ fault: thrown.message, attempt, delayMs, at: writtenBytes }, 'Download resumed')
      if (refused || thrown.reason === 'bad-answer') {
        options.onRefused?.(thrown)
        link = undefined
      }
      await sleep(delayMs, signal)
      context.transport.onRepeat?.('download')
    }
  }
}

/** Not retried: each try could bring as much. */
function tooLarge({ maxBytes }: OversizeError, host: string, fileId: string): TransientError {
  const most = Math.ceil(maxBytes / 1e6)
  return new TransientError(
    'ERR_DOWNLOAD_TOO_LARGE',
    `${host} sent a file that is too large: more than ${most} MB, which no sound of this length needs.`,
    {
      remedies: [
        'Check the network or its proxy, then run again: the next download costs nothing.',
        `If it stays so, report file id ${fileId} to the operator of the service.`,
      ],
    },
  )
}
