import PQueue from 'p-queue'
import {
  type FileErrorCode,
  type FileProcessingStatus,
  fileErrorInfo,
  type OutputFileUrl,
  type PingAnswer,
  type RegisteredFile,
  type RegisteredFileFromUrl,
  type StartProcessAnswer,
} from '../contract/index.js'
import { throwIfAborted } from '../core/abort.js'
import { JobFailedError, toVoxmuxError } from '../core/errors.js'
import { silentLogger } from '../core/logger.js'
import { type ResolvedClientOptions, resolveClientOptions, type VoxmuxClientOptions } from './client-options.js'
import { type Downloaded, downloadFile } from './download-file.js'
import { linkedAbort } from './linked-abort.js'
import { type RegisterAndUploadOptions, registerAndUpload } from './register-and-upload.js'
import type { CallOptions, FileToRegister, StartOptions } from './service-api.js'
import { openSession, type ServiceSession } from './service-session.js'
import { resumeStart, type StartOutcome, startOnce } from './start-once.js'
import type { WatchOptions } from './status-watcher.js'
import { untilAborted } from './until-aborted.js'
import { type TransferContext, type TransferOptions, uploadFile } from './upload-file.js'

/**
 * The SDK: everything the File Voice Regeneration Service can do, for one service and one identity.
 *
 * Every method takes an AbortSignal, repeats what fails for a moment (with jitter, obeying Retry-After), checks each
 * answer against the contract and throws a `VoxmuxError` with a stable `code`: AccessError `ERR_AUTH_FAILED` (401) and
 * `ERR_ACCESS_DENIED` (403); TransientError `ERR_SERVICE_UNREACHABLE`, `ERR_SERVICE_BUSY` (429, 5xx) and
 * `ERR_BAD_ANSWER` after all repeats; JobFailedError `ERR_NOT_FOUND` (404) and `ERR_REQUEST_REFUSED` (400);
 * UsageError for wrong options and for plain http to another machine.
 *
 * Clients with the same options share one access token and one status poller.
 */
export class VoxmuxClient {
  readonly #options: ResolvedClientOptions
  readonly #session: ServiceSession
  readonly #transfers: PQueue
  readonly #context: TransferContext
  readonly #closing = new AbortController()

  constructor(options: VoxmuxClientOptions) {
    this.#options = resolveClientOptions(options)
    const logger = options.logger ?? silentLogger
    this.#session = openSession(this.#options, logger, options.meter)
    this.#transfers = new PQueue({ concurrency: this.#options.transferConcurrency })
    this.#context = { transport: this.#session.transport, retry: this.#options.retry, logger }
  }

  /** Says whether the service is alive; needs no credentials. */
  ping(options?: CallOptions): Promise<PingAnswer> {
    return this.#run(options, (bound) => this.#session.api.ping(bound))
  }

  /** Registers a file for upload; `start` and `end` (seconds) choose a part. */
  registerFile(file: FileToRegister, options?: CallOptions): Promise<RegisteredFile> {
    return this.#run(options, (bound) => this.#session.api.registerFile(file, bound))
  }

  /** Registers a file that the service downloads itself, from a public address good for an hour at least. */
  registerFileFromUrl(
    file: FileToRegister & { readonly sourceUrl: string },
    options?: CallOptions,
  ): Promise<RegisteredFileFromUrl> {
    return this.#run(options, (bound) => this.#session.api.registerFileFromUrl(file, bound))
  }

  /** Sends a local file's bytes to its upload link. TransientError `ERR_UPLOAD_LINK_EXPIRED`: register it again. */
  upload(registered: RegisteredFile, path: string, options?: TransferOptions): Promise<void> {
    const { blockTypeHeader } = this.#options
    return this.#transfer(options, (bound) => uploadFile(this.#context, blockTypeHeader, registered, path, bound))
  }

  /** Registers and uploads; registers again where the link expires. `onRegistered` is awaited before bytes are sent. */
  registerAndUpload(file: FileToRegister, path: string, options?: RegisterAndUploadOptions): Promise<RegisteredFile> {
    const upload = (registered: RegisteredFile, transfer: TransferOptions) => this.upload(registered, path, transfer)
    return this.#run(options, (bound) => registerAndUpload(this.#session.api, upload, file, bound))
  }

  /**
   * Starts processing. Does not repeat what may have arrived: use {@link startOnce} unless you ask the status
   * yourself. JobFailedError `ERR_START_CONFLICT` (409: started already, or not uploaded), `ERR_START_REFUSED`.
   */
  startProcess(fileId: string, startOptions?: StartOptions, options?: CallOptions): Promise<StartProcessAnswer> {
    return this.#run(options, (bound) => this.#session.api.startProcess(fileId, startOptions, bound))
  }

  /** Starts a file at most once, whatever the network does: see `start-once.ts` for how Pending is read. */
  startOnce(fileId: string, startOptions?: StartOptions, options?: CallOptions): Promise<StartOutcome> {
    const { retry } = this.#options
    return this.#run(options, (bound) => startOnce(this.#session.api, retry, fileId, startOptions, bound))
  }

  /** {@link startOnce} after a crash: asks the status first, and starts only an id that has not started. */
  resumeStart(fileId: string, startOptions?: StartOptions, options?: CallOptions): Promise<StartOutcome> {
    const { retry } = this.#options
    return this.#run(options, (bound) => resumeStart(this.#session.api, retry, fileId, startOptions, bound))
  }

  /** One entry an id, in the order asked; any number of ids. To wait for a file use {@link waitFor}. */
  getFilesStatus(fileIds: readonly string[], options?: CallOptions): Promise<FileProcessingStatus[]> {
    return this.#run(options, (bound) => this.#session.api.getFilesStatus(fileIds, bound))
  }

  /** A signed link to the output of a succeeded file; `expiry` is a Unix timestamp in seconds. */
  getOutputFileUrl(fileId: string, options?: CallOptions): Promise<OutputFileUrl> {
    return this.#run(options, (bound) => this.#session.api.getOutputFileUrl(fileId, bound))
  }

  /**
   * Waits until a file has succeeded.
   *
   * @throws JobFailedError `ERR_FILE_FAILED` with the interface's error code, `ERR_NOT_FOUND` (-11)
   */
  async waitFor(fileId: string, options?: WatchOptions): Promise<FileProcessingStatus> {
    const status = await this.#run(options, (bound) => this.#session.watcher.watch(fileId, bound))
    if (status.status === 'Succeeded') return status
    throw fileFailed(fileId, status.status === 'NotFound' ? 'ERR_NOT_FOUND' : 'ERR_FILE_FAILED', status)
  }

  /** Tells the poller that something happened to a file (a webhook came): see `StatusWatcher.poke`. */
  poke(fileId: string, status?: FileProcessingStatus): void {
    this.#session.watcher.poke(fileId, status)
  }

  /** Asks for the status of a file at once, where somebody waits for it: its end is known from elsewhere. */
  askNow(fileId: string): void {
    this.#session.watcher.askNow(fileId)
  }

  /** Streams the output of a succeeded file to `targetPath`, resumed after a break, its length checked. */
  download(fileId: string, targetPath: string, options?: TransferOptions): Promise<Downloaded> {
    return this.#transfer(options, (bound) => downloadFile(this.#context, this.#session.api, fileId, targetPath, bound))
  }

  /** Ends everything this client still does, with InterruptedError. */
  close(): void {
    this.#closing.abort()
    this.#session.release()
  }

  /** Runs a method with a signal that follows the caller's and {@link close}. */
  async #run<O extends CallOptions, T>(options: O | undefined, work: (bound: O & Bound) => Promise<T>): Promise<T> {
    const { signal, release } = linkedAbort(options?.signal, this.#closing.signal)
    try {
      throwIfAborted(signal)
      return await work({ ...(options as O), signal })
    } finally {
      release()
    }
  }

  /** The same for bytes, of which only so many files' move at once. */
  #transfer<T>(options: TransferOptions | undefined, work: (bound: TransferOptions & Bound) => Promise<T>): Promise<T> {
    return this.#run(options, async (bound) => {
      let running: Promise<T> | undefined
      const queued = this.#transfers.add(() => {
        throwIfAborted(bound.signal)
        running = work(bound)
        return running
      })
      try {
        return await untilAborted(queued, bound.signal)
      } catch (thrown) {
        // An abort ends the place in the queue at once; work under way is left to clear up after itself first.
        await running?.catch(() => {})
        throw toVoxmuxError(thrown)
      }
    })
  }
}

interface Bound {
  readonly signal: AbortSignal
}

function fileFailed(
  fileId: string,
  code: 'ERR_FILE_FAILED' | 'ERR_NOT_FOUND',
  status: FileProcessingStatus,
): JobFailedError {
  const errorCode: FileErrorCode = status.errorCode === 0 ? (code === 'ERR_NOT_FOUND' ? -11 : -1) : status.errorCode
  const info = fileErrorInfo(errorCode)
  return new JobFailedError(code, `The service could not process file id ${fileId}: ${info.meaning}`, {
    errorCode: info.code,
    errorName: info.name,
    remedies: info.remedies,
  })
}
