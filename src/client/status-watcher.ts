import { type FileProcessingStatus, LIMITS } from '../contract/index.js'
import { throwIfAborted } from '../core/abort.js'
import { InterruptedError, JobFailedError, TransientError, toVoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import { thrownMessage } from '../core/thrown-message.js'
import type { PollingOptions } from './client-options.js'
import { dueBatch, nextRoundAtMs, pollPauseMs, type Waiter, type WatchedFile } from './watched-file.js'

export interface WatchOptions {
  readonly signal?: AbortSignal | undefined
  /** Told of every status that differs from the one before. */
  readonly onStatus?: ((status: FileProcessingStatus) => void) | undefined
}

/** Asks for the status of 1 to 100 ids, in the order given. */
export type AskStatus = (fileIds: readonly string[], signal: AbortSignal) => Promise<FileProcessingStatus[]>

/** Ids due within this time are as good as due when a request is sent. */
const BATCH_WINDOW_MS = 50

/**
 * Asks for the status of every file that somebody waits for, from one place: one request at a time, up to 100 ids in
 * each, and one in the shortest pause unless a hundred are due. It runs only while somebody waits.
 */
export class StatusWatcher {
  readonly #ask: AskStatus
  readonly #polling: PollingOptions
  readonly #logger: Logger
  readonly #files = new Map<string, WatchedFile>()
  #timer: NodeJS.Timeout | undefined
  #round: AbortController | undefined
  #askedAtMs = Number.NEGATIVE_INFINITY
  #failingSinceMs: number | null = null
  #hookedAtMs = Number.NEGATIVE_INFINITY

  constructor(ask: AskStatus, polling: PollingOptions, logger: Logger) {
    this.#ask = ask
    this.#polling = polling
    this.#logger = logger
  }

  /**
   * Waits until a file is Succeeded, Failed, or NotFound for longer than a registration takes to be known.
   *
   * @returns the final status, whichever it is
   * @throws AccessError at once; TransientError after `polling.outageMs` without an answer; InterruptedError
   */
  async watch(fileId: string, { signal, onStatus }: WatchOptions = {}): Promise<FileProcessingStatus> {
    throwIfAborted(signal)
    const file = this.#fileOf(fileId)
    let stop = () => {}
    let waiter: Waiter | undefined
    try {
      return await new Promise<FileProcessingStatus>((resolve, reject) => {
        stop = () => reject(new InterruptedError('Interrupted.', { cause: signal?.reason }))
        signal?.addEventListener('abort', stop, { once: true })
        waiter = { resolve, reject, onStatus }
        file.waiters.add(waiter)
        if (file.last) tell(waiter, file.last, this.#logger)
        this.#schedule()
      })
    } finally {
      signal?.removeEventListener('abort', stop)
      if (waiter) file.waiters.delete(waiter)
      if (file.waiters.size === 0 && this.#files.get(fileId) === file) this.#forget(file)
    }
  }

  /**
   * Wakes the watcher: something is known to have happened to a file, for example by a webhook. A final status is
   * asked for at once rather than believed; one on the way is passed on. Meanwhile questions are fewer.
   */
  poke(fileId: string, status?: FileProcessingStatus): void {
    this.#hookedAtMs = Date.now()
    if (status?.status !== 'Pending' && status?.status !== 'InProgress') {
      this.askNow(fileId)
      return
    }
    const file = this.#files.get(fileId)
    if (!file) return
    this.#report(file, status)
    file.nextAtMs = Math.max(file.nextAtMs, Date.now() + this.#pauseMs(file))
    this.#schedule()
  }

  /** Asks for a file at once, if somebody waits for it; the pauses of all others stay what they are. */
  askNow(fileId: string): void {
    const file = this.#files.get(fileId)
    if (!file) return
    file.nextAtMs = 0
    this.#schedule()
  }

  /** Ends all waiting with InterruptedError. */
  close(): void {
    this.#failAll([...this.#files.values()], new InterruptedError('The client was closed.'))
  }

  #fileOf(id: string): WatchedFile {
    const known = this.#files.get(id)
    if (known) return known
    const now = Date.now()
    const file: WatchedFile = {
      id,
      sinceMs: now,
      waiters: new Set(),
      nextAtMs: now,
      last: null,
      notFoundSinceMs: null,
      alone: false,
    }
    this.#files.set(id, file)
    return file
  }

  #forget(file: WatchedFile): void {
    this.#files.delete(file.id)
    if (this.#files.size > 0) return
    clearTimeout(this.#timer)
    this.#round?.abort()
    this.#failingSinceMs = null
  }

  /** Sets the timer to the file that is due first; while a request is under way its end does so. */
  #schedule(): void {
    if (this.#round || this.#files.size === 0) return
    clearTimeout(this.#timer)
    const atMs = nextRoundAtMs(this.#files.values(), this.#askedAtMs + this.#polling.minMs, LIMITS.fileIdsMax)
    this.#timer = setTimeout(() => void this.#runRound(), Math.max(0, atMs - Date.now()))
  }

  async #runRound(): Promise<void> {
    const batch = dueBatch(this.#files.values(), Date.now() + BATCH_WINDOW_MS, LIMITS.fileIdsMax)
    if (batch.length > 0) {
      const round = new AbortController()
      this.#round = round
      this.#askedAtMs = Date.now()
      // So that a poke during the request is not undone by its answer, which may be older.
      for (const file of batch) file.nextAtMs = Number.POSITIVE_INFINITY
      try {
        const entries = await this.#ask(
          batch.map((file) => file.id),
          round.signal,
        )
        this.#failingSinceMs = null
        for (const [index, file] of batch.entries()) this.#take(file, entries[index])
      } catch (thrown) {
        if (!round.signal.aborted) this.#fail(batch, toVoxmuxError(thrown))
      } finally {
        this.#round = undefined
        for (const file of batch) if (file.nextAtMs === Number.POSITIVE_INFINITY) this.#postpone(file)
      }
    }
    this.#schedule()
  }

  #take(file: WatchedFile, entry: FileProcessingStatus | undefined): void {
    if (!entry) return
    const now = Date.now()
    if (entry.status === 'NotFound') {
      file.notFoundSinceMs ??= now
      if (now - file.notFoundSinceMs < this.#polling.notFoundGraceMs) return
    } else file.notFoundSinceMs = null
    this.#report(file, entry)
    if (entry.status === 'Pending' || entry.status === 'InProgress') return
    this.#files.delete(file.id)
    for (const waiter of file.waiters) waiter.resolve(entry)
  }

  #report(file: WatchedFile, status: FileProcessingStatus): void {
    const { last } = file
    const same =
      last?.status === status.status && last.progress === status.progress && last.errorCode === status.errorCode
    file.last = status
    if (!same) for (const waiter of file.waiters) tell(waiter, status, this.#logger)
  }

  #fail(batch: readonly WatchedFile[], error: Error): void {
    const now = Date.now()
    if (error instanceof TransientError) {
      this.#failingSinceMs ??= now
      this.#logger.warn({ code: error.code, files: batch.length }, 'The status could not be asked for')
      if (now - this.#failingSinceMs >= this.#polling.outageMs) this.#failAll([...this.#files.values()], error)
    } else if (error instanceof JobFailedError && batch.length > 1) {
      // One id that the service does not like must not end the waiting for ninety-nine others.
      for (const file of batch) file.alone = true
    } else this.#failAll(error instanceof JobFailedError ? batch : [...this.#files.values()], error)
  }

  #failAll(files: readonly WatchedFile[], error: Error): void {
    for (const file of files) {
      this.#forget(file)
      for (const waiter of file.waiters) waiter.reject(error)
    }
  }

  #postpone(file: WatchedFile): void {
    const now = Date.now()
    const isFailing = this.#failingSinceMs !== null
    const pauseMs = isFailing ? this.#polling.maxMs : this.#pauseMs(file)
    file.nextAtMs = now + pauseMs
    // Where the service is in trouble, or tells by itself, nobody goes along long before his time.
    const sparing = isFailing || this.#isHooked(now)
    file.earliestAtMs = now + (sparing ? pauseMs / 2 : Math.min(pauseMs / 2, this.#polling.minMs))
  }

  #pauseMs(file: WatchedFile): number {
    const now = Date.now()
    return pollPauseMs(file, this.#polling, now, this.#isHooked(now))
  }

  #isHooked(now: number): boolean {
    return now - this.#hookedAtMs < this.#polling.hooksFreshMs
  }
}

/** A listener's own fault must not end the polling of others. */
function tell(waiter: Waiter, status: FileProcessingStatus, logger: Logger): void {
  try {
    waiter.onStatus?.(status)
  } catch (thrown) {
    logger.error({ fault: thrownMessage(thrown) }, 'A status listener failed')
  }
}
