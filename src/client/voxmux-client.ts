import PQueue from 'p-queue'
import type {
  OutputFileUrl,
  PingAnswer,
  RegisteredFile,
  RegisteredFileFromUrl,
  StartProcessAnswer,
} from '../contract/index.js'
import { linkedAbort, throwIfAborted } from '../core/abort.js'
import { TransientError, toVoxmuxError } from '../core/errors.js'
import { silentLogger } from '../core/logger.js'
import { type ResolvedClientOptions, resolveClientOptions, type VoxmuxClientOptions } from './client-options.js'
import { fileFailed } from './file-failed.js'
import type { FileStatus } from './file-status.js'
import type { CallOptions, FileToRegister, StartOptions } from './service-api.js'
import { openServiceSession, type ServiceSession } from './service-session.js'
import { type FileToStart, provenStart, resumeStart, type StartOutcome, startOnce } from './start-once.js'
import type { WatchOptions } from './status-watcher.js'
import { type Downloaded, type DownloadOptions, downloadFile } from './transfer/download-file.js'
import { outputLink } from './transfer/output-link.js'
import { type RegisterAndUploadOptions, registerAndUpload } from './transfer/register-and-upload.js'
import { type TransferContext, type TransferOptions, uploadFile } from './transfer/upload-file.js'
import { untilAborted } from './until-aborted.js'

/**
 * The SDK: every operation of the File Voice Regeneration Service, for one service and one identity.
 *
 * Every method takes an AbortSignal, retries temporary failures (with jitter, obeying Retry-After) and validates each
 * response against the contract. It throws a `VoxmuxError` with a stable `code`:
 * - AccessError `ERR_AUTH_FAILED` (401) and `ERR_ACCESS_DENIED` (403)
 * - TransientError `ERR_SERVICE_UNREACHABLE`, `ERR_SERVICE_BUSY` (425, 429, 5xx) and `ERR_BAD_ANSWER` after all retries
 * - JobFailedError `ERR_NOT_FOUND` (404) and `ERR_REQUEST_REFUSED` (400)
 * - UsageError for invalid options and for plain http to another machine
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
    this.#session = openServiceSession(this.#options, logger, options.meter)
    this.#transfers = new PQueue({ concurrency: this.#options.transferConcurrency })
    this.#context = { transport: this.#session.transport, retry: this.#options.retry, logger }
  }

  /** Checks whether the service is alive. Needs no credentials. */
  ping(options?: CallOptions): Promise<PingAnswer> {
    return this.#run(options, (bound) => this.#session.api.ping(bound))
  }

  /** Registers a file for upload. `start` and `end` (seconds) select a part. */
  registerFile(file: FileToRegister, options?: CallOptions): Promise<RegisteredFile> {
    return this.#run(options, (bound) => this.#session.api.registerFile(file, bound))
  }

  /** Registers a file that the service downloads itself. The public address must be valid for at least an hour. */
  registerFileFromUrl(
    file: FileToRegister & { readonly sourceUrl: string },
    options?: CallOptions,
  ): Promise<RegisteredFileFromUrl> {
    return this.#run(options, (bound) => this.#session.api.registerFileFromUrl(file, bound))
  }

  /** Uploads a local file to its upload link. TransientError `ERR_UPLOAD_LINK_EXPIRED`: register it again. */
  upload(registered: RegisteredFile, path: string, options?: TransferOptions): Promise<void> {
    const { blockTypeHeader } = this.#options
    const context = { ...this.#context, blockTypeHeader }
    return this.#transfer(options, (bound) => uploadFile(path, registered, context, bound))
  }

  /** Registers and uploads a file. Registers it again if the link expires. Awaits `onRegistered` before the upload. */
  registerAndUpload(file: FileToRegister, path: string, options?: RegisterAndUploadOptions): Promise<RegisteredFile> {
    const upload = (registered: RegisteredFile, transfer: TransferOptions) => this.upload(registered, path, transfer)
    return this.#run(options, (bound) => registerAndUpload(this.#session.api, upload, file, bound))
  }

  /**
   * Starts processing. Does not retry a request that may have arrived: use {@link startOnce} unless you check the
   * status yourself.
   *
   * @throws {JobFailedError} `ERR_START_CONFLICT` (409: started already, or not uploaded), `ERR_START_REFUSED`
   */
  startProcess(fileId: string, startOptions?: StartOptions, options?: CallOptions): Promise<StartProcessAnswer> {
    return this.#run(options, (bound) => this.#session.api.startProcess(fileId, startOptions, bound))
  }

  /** Starts a file at most once, whatever the network does. `start-once.ts` explains how Pending is interpreted. */
  startOnce(fileId: string, startOptions?: StartOptions, options?: CallOptions): Promise<StartOutcome> {
    return this.#run(options, (call) => startOnce(this.#fileToStart(fileId, startOptions, call)))
  }

  /** {@link startOnce} after a crash: checks the status first, and starts only an id that has not started. */
  resumeStart(fileId: string, startOptions?: StartOptions, options?: CallOptions): Promise<StartOutcome> {
    return this.#run(options, (call) => resumeStart(this.#fileToStart(fileId, startOptions, call)))
  }

  /** Waits for the proof of a start that only a conflict reported: see `provenStart`. */
  provenStart(fileId: string, options?: CallOptions & { readonly untilMs?: number | undefined }): Promise<FileStatus> {
    return this.#run(options, ({ untilMs, ...call }) =>
      provenStart(this.#fileToStart(fileId, undefined, call), this.#options.polling, untilMs),
    )
  }

  /** Returns one entry per id, in the given order, for any number of ids. To wait for a file, use {@link waitFor}. */
  getFilesStatus(fileIds: readonly string[], options?: CallOptions): Promise<FileStatus[]> {
    return this.#run(options, async (bound) => {
      const entries = await this.#session.api.getFilesStatus(fileIds, bound)
      return entries.map((entry, index) => entry ?? noEntry(fileIds[index] as string))
    })
  }

  /** Returns a signed link to the output of a succeeded file. `expiry` is a Unix timestamp in seconds. */
  getOutputFileUrl(fileId: string, options?: CallOptions): Promise<OutputFileUrl> {
    return this.#run(options, (bound) => this.#session.api.getOutputFileUrl(fileId, bound))
  }

  /**
   * Waits until a file has succeeded.
   *
   * @throws {JobFailedError} `ERR_FILE_FAILED` with the interface's error code, `ERR_NOT_FOUND` (-11)
   * @throws {TransientError} `ERR_STATUS_UNCHANGED` after `polling.unchangedMs` at one status
   */
  async waitFor(fileId: string, options?: WatchOptions): Promise<FileStatus> {
    const status = await this.#run(options, (bound) => this.#session.watcher.watch(fileId, bound))
    if (status.status === 'Succeeded') return status
    throw fileFailed(fileId, status)
  }

  /** Reports to the poller that something happened to a file (a webhook came): see `StatusWatcher.notify`. */
  notify(fileId: string, status?: FileStatus): void {
    this.#session.watcher.notify(fileId, status)
  }

  /** Polls a file at once if there is a waiter for it, because its end is known from elsewhere. */
  askNow(fileId: string): void {
    this.#session.watcher.pollNow(fileId)
  }

  /** Ends all waits for files with an error, because the service is known to stand still. */
  failWaits(error: Error): void {
    this.#session.watcher.fail(error)
  }

  /**
   * Streams the output of a succeeded file to `targetPath`. Resumes after a break and checks the length.
   *
   * @throws {TransientError} `ERR_OUTPUT_NOT_READY` if the service has the file but no link to its output;
   * `ERR_DOWNLOAD_TOO_LARGE`
   */
  download(fileId: string, targetPath: string, options?: DownloadOptions): Promise<Downloaded> {
    const { api } = this.#session
    const links = {
      getOutputFileUrl: (id: string, call?: CallOptions) => outputLink(api, this.#options.retry, id, call),
    }
    return this.#transfer(options, (bound) => downloadFile({ api: links, fileId }, targetPath, this.#context, bound))
  }

  /** Ends all running calls of this client with InterruptedError. */
  close(): void {
    this.#closing.abort()
    this.#session.release()
  }

  #fileToStart(fileId: string, options: StartOptions | undefined, call: CallOptions): FileToStart {
    return { api: this.#session.api, retry: this.#options.retry, fileId, options, call }
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

  /** Runs a transfer like {@link #run}, with a limit on simultaneous transfers. */
  #transfer<O extends TransferOptions, T>(options: O | undefined, work: (bound: O & Bound) => Promise<T>): Promise<T> {
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
        // An abort leaves the queue at once, but a running transfer cleans up first.
        await running?.catch(() => {})
        throw toVoxmuxError(thrown)
      }
    })
  }
}

interface Bound {
  readonly signal: AbortSignal
}

function noEntry(fileId: string): never {
  throw new TransientError('ERR_BAD_ANSWER', `The service reports no readable status of file id ${fileId}.`, {
    remedies: ['Run the same command again later.'],
  })
}
