import { createHash, getFips, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { RegisteredFile } from '../../contract/index.js'
import { JobFailedError, UsageError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { safeAddress } from '../address.js'
import type { RetryOptions } from '../client-options.js'
import { faultError } from '../fault-error.js'
import { HttpFault } from '../http-fault.js'
import { withRetries } from '../retry.js'
import type { Transport } from '../transport.js'
import { UploadTries } from './upload-tries.js'

/** Transferred bytes. `totalBytes` is null if the other side does not announce it. */
export interface TransferProgress {
  readonly transferredBytes: number
  readonly totalBytes: number | null
}

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

export interface TransferContext {
  readonly transport: Transport
  readonly retry: RetryOptions
  readonly logger: Logger
}

const CHUNK_BYTES = 256 * 1024

const EXPECTATION_FAILED = 417

/**
 * Streams a file from disk to its signed upload link. Restarts from the beginning after each fault, and if the storage
 * reports the MD5 of other bytes.
 *
 * @param path local file, sent up to its length at the start
 * @throws {TransientError} `ERR_UPLOAD_LINK_EXPIRED` if storage refuses the link
 * @throws {JobFailedError} `ERR_INPUT_CHANGED` if the file shrinks during the upload
 * @throws {UsageError} `ERR_INPUT_MISSING`
 */
export async function uploadFile(
  path: string,
  registered: RegisteredFile,
  { blockTypeHeader, ...context }: TransferContext & { readonly blockTypeHeader: string },
  { signal, onProgress }: TransferOptions,
): Promise<void> {
  const link = safeAddress(registered.file_upload_link, 'The upload link')
  const contentLength = await fileSize(path)
  const tries = new UploadTries(registered, path)
  let asksFirst = false
  const send = async () => {
    // A computer in FIPS mode has no MD5.
    const md5 = getFips() === 0 ? createHash('md5') : undefined
    // Ignores the link's expiry: only storage's clock counts, and this machine's may be wrong.
    const answer = await context.transport.putStream({
      operation: 'upload',
      url: link.href,
      headers: { 'content-type': 'application/octet-stream', [blockTypeHeader]: 'BlockBlob' },
      body: Readable.from(bytesOf(path, contentLength, md5, onProgress), { objectMode: false }),
      contentLength,
      asksFirst,
      signal,
    })
    // A server, or a proxy before it, that cannot be asked first.
    if (asksFirst && answer.status === EXPECTATION_FAILED)
      throw new HttpFault({ operation: 'upload', reason: 'network', detail: `status ${EXPECTATION_FAILED}` })
    await tries.requireStored(answer, async () => md5)
  }
  const exchange = async () => {
    try {
      await send()
    } catch (thrown) {
      tries.failed(thrown)
      // A server that refuses a large body may close before its response is read. It then gets to refuse the headers.
      asksFirst = !asksFirst && thrown instanceof HttpFault && thrown.reason === 'network'
      throw thrown
    }
  }
  try {
    await withRetries(exchange, { ...context, signal })
  } catch (thrown) {
    throw thrown instanceof HttpFault ? faultError(thrown, link.host) : thrown
  }
}

async function fileSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    throw new UsageError('ERR_INPUT_MISSING', `${path} cannot be uploaded, because it does not exist.`, {
      cause,
      input: path,
    })
  }
}

async function* bytesOf(
  path: string,
  totalBytes: number,
  md5: Hash | undefined,
  onProgress: TransferOptions['onProgress'],
): AsyncGenerator<Buffer> {
  if (totalBytes === 0) return
  let transferredBytes = 0
  try {
    for await (const chunk of createReadStream(path, { end: totalBytes - 1, highWaterMark: CHUNK_BYTES })) {
      md5?.update(chunk as Buffer)
      yield chunk as Buffer
      transferredBytes += (chunk as Buffer).length
      onProgress?.({ transferredBytes, totalBytes })
    }
  } catch (cause) {
    // Convert the error here, so that it is not taken for a network fault.
    throw new JobFailedError('ERR_INPUT_UNREADABLE', `${path} could not be read to its end.`, { cause, input: path })
  }
  if (transferredBytes < totalBytes) {
    throw new JobFailedError('ERR_INPUT_CHANGED', `${path} became shorter during the upload.`, {
      input: path,
      remedies: ['Wait until no program writes to the file, then run again.'],
    })
  }
}
