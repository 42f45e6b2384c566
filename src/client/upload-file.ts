import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { RegisteredFile } from '../contract/index.js'
import { JobFailedError, TransientError, UsageError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import { safeAddress } from './address.js'
import type { RetryOptions } from './client-options.js'
import { statusFault } from './exchange-json.js'
import { faultError } from './fault-error.js'
import { HttpFault } from './http-fault.js'
import { withRetries } from './retry.js'
import type { Transport } from './transport.js'

/** Bytes moved so far of all there are; `totalBytes` is null where the other side does not say. */
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
/** Statuses by which storage says that a signed link is not, or no longer, good. */
const LINK_REFUSED = new Set([401, 403, 404, 410])

/**
 * Sends a file's bytes to its signed upload link, from the start again after each fault, streamed from disk.
 *
 * @param path local file; its length at the start is what is sent
 * @throws TransientError `ERR_UPLOAD_LINK_EXPIRED` where the link is refused or its expiry has passed,
 *   JobFailedError `ERR_INPUT_CHANGED` where the file shrinks meanwhile, UsageError `ERR_INPUT_MISSING`
 */
export async function uploadFile(
  context: TransferContext,
  blockTypeHeader: string,
  registered: RegisteredFile,
  path: string,
  { signal, onProgress }: TransferOptions = {},
): Promise<void> {
  const link = safeAddress(registered.file_upload_link, 'The upload link')
  const contentLength = await fileSize(path)
  const exchange = async () => {
    if (registered.file_upload_expiry * 1000 <= Date.now()) throw linkExpired(registered, path)
    const answer = await context.transport.putStream({
      operation: 'upload',
      url: link.href,
      headers: { 'content-type': 'application/octet-stream', [blockTypeHeader]: 'BlockBlob' },
      body: Readable.from(bytesOf(path, contentLength, onProgress), { objectMode: false }),
      contentLength,
      signal,
    })
    if (LINK_REFUSED.has(answer.status)) throw linkExpired(registered, path)
    if (answer.status < 200 || answer.status > 299) throw statusFault('upload', answer)
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
    throw new UsageError('ERR_INPUT_MISSING', `There is no file ${path} to upload.`, { cause, input: path })
  }
}

async function* bytesOf(
  path: string,
  totalBytes: number,
  onProgress: TransferOptions['onProgress'],
): AsyncGenerator<Buffer> {
  if (totalBytes === 0) return
  let transferredBytes = 0
  try {
    for await (const chunk of createReadStream(path, { end: totalBytes - 1, highWaterMark: CHUNK_BYTES })) {
      yield chunk as Buffer
      transferredBytes += (chunk as Buffer).length
      onProgress?.({ transferredBytes, totalBytes })
    }
  } catch (cause) {
    // Said here, where it cannot be taken for a fault of the network.
    throw new JobFailedError('ERR_INPUT_UNREADABLE', `${path} could not be read to its end.`, { cause, input: path })
  }
  if (transferredBytes < totalBytes) {
    throw new JobFailedError('ERR_INPUT_CHANGED', `${path} became shorter while it was uploaded.`, {
      input: path,
      remedies: ['Wait until nothing writes to the file, then run again.'],
    })
  }
}

function linkExpired(registered: RegisteredFile, path: string): TransientError {
  return new TransientError(
    'ERR_UPLOAD_LINK_EXPIRED',
    `The upload link of file id ${registered.file_id} is no longer good.`,
    {
      input: path,
      remedies: ['Register the file again.'],
    },
  )
}
