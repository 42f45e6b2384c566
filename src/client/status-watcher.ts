import { LIMITS } from '../contract/index.js'
import { throwIfAborted } from '../core/abort.js'
import { InterruptedError, JobFailedError, TransientError, thrownMessage, toVoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { PollingOptions } from './client-options.js'
import { statusUnchanged } from './file-failed.js'
import type { FileStatus } from './file-status.js'
import { dueBatch, nextRoundAtMs, type PolledFile, pollPauseMs, type Waiter } from './polled-file.js'
import { untilAborted } from './until-aborted.js'

export interface WatchOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with every status that differs from the previous one. */
  readonly onStatus?: ((status: FileStatus) => void) | undefined
}

/** Requests the status of 1 to 100 ids, in the given order. Undefined for a file without a readable entry. */
type PollStatus = (fileIds: readonly string[], signal: AbortSignal) => Promise<(FileStatus | undefined)[]>

/** Ids due within this time are included in a request. */
const BATCH_WINDOW_MS = 50

/**
 * Polls the status of all files that have a waiter, and runs only while there is one. It sends one request at a time
 * with up to 100 ids, and one request per shortest pause unless a hundred are due.
 */
export class StatusWatcher {
  readonly #poll: PollStatus
  readonly #polling: PollingOptions
  readonly #logger: Logger
  readonly #files = new Map<string, PolledFile>()
  #timer: NodeJS.Timeout | undefined
  #round: AbortController | undefined
  #askedAtMs = Number.NEGATIVE_INFINITY
  #failingSinceMs: number | null = null
  #hookedAtMs = Number.NEGATIVE_INFINITY

  constructor(ask: PollStatus, polling: PollingOptions, logger: Logger) {
    this.#poll = ask
    this.#polling = polling
    this.#logger = logger
  }

  /**
   * Waits until a file is Succeeded, Failed twice in a row, or NotFound for longer than a registration takes to become
   * visible.
   *
   * @returns the final status, whichever it is
   * @throws {AccessError} at once
   * @throws {TransientError} after `polling.outageMs` without a response; `ERR_STATUS_UNCHANGED`
   * @throws {InterruptedError} on abort or close
   */
  async watch(fileId: string, { signal, onStatus }: WatchOptions): Promise<FileStatus> {
    throwIfAborted(signal)
    const file = this.#fileOf(fileId)
    let waiter!: Waiter
    const ended = new Promise<FileStatus>((resolve, reject) => {
      waiter = { resolve, reject, onStatus }
    })
    file.waiters.add(waiter)
    try {
      const waiting = untilAborted(ended, signal)
      if (file.last) tell(waiter, file.last, this.#logger)
      this.#schedule()
      return await waiting
    } finally {
      file.waiters.delete(waiter)
      if (file.waiters.size === 0 && this.#isPolled(file)) this.#forget(file)
    }
  }

  /** Reports that something happened to a file. A poll verifies a final status. Polls become rarer meanwhile. */
  notify(fileId: string, status?: FileStatus): void {
    this.#hookedAtMs = performance.now()
    if (status?.status !== 'Pending' && status?.status !== 'InProgress') {
      this.pollNow(fileId)
      return
    }
    const file = this.#files.get(fileId)
    if (!file) return
    this.#report(file, status)
    file.nextAtMs = Math.max(file.nextAtMs, performance.now() + this.#pauseMs(file))
    this.#schedule()
  }

  /** Polls a file at once if there is a waiter for it. The pauses of all others stay unchanged. */
  pollNow(fileId: string): void {
    const file = this.#files.get(fileId)
    if (!file) return
    file.nextAtMs = 0
    this.#schedule()
  }

  /** Ends all waits with InterruptedError. */
  close(): void {
    this.fail(new InterruptedError('The client was closed.'))
  }

  /** Ends all waits with an error. */
  fail(error: Error): void {
    this.#failAll([...this.#files.values()], error)
  }

  #fileOf(id: string): PolledFile {
    const known = this.#files.get(id)
    if (known) return known
    const now = performance.now()
    const file: PolledFile = {
      id,
      sinceMs: now,
      waiters: new Set(),
      nextAtMs: now,
      last: null,
      changedMs: now,
      notFoundSinceMs: null,
      unansweredSinceMs: null,
      alone: false,
    }
    this.#files.set(id, file)
    return file
  }

  /** False for a file that was forgotten during a request. Another wait for the same id may have begun since. */
  readonly #isPolled = (file: PolledFile): boolean => this.#files.get(file.id) === file

  #forget(file: PolledFile): void {
    this.#files.delete(file.id)
    if (this.#files.size > 0) return
    clearTimeout(this.#timer)
    this.#round?.abort()
    this.#failingSinceMs = null
  }

  /** Sets the timer to the first due file. During a request, its end does that. */
  #schedule(): void {
    if (this.#round || this.#files.size === 0) return
    clearTimeout(this.#timer)
    const atMs = nextRoundAtMs(this.#files.values(), this.#askedAtMs + this.#polling.minMs, LIMITS.fileIdsMax)
    this.#timer = setTimeout(() => void this.#runRound(), Math.max(0, atMs - performance.now()))
  }

  async #runRound(): Promise<void> {
    const batch = dueBatch(this.#files.values(), performance.now() + BATCH_WINDOW_MS, LIMITS.fileIdsMax)
    if (batch.length > 0) await this.#ask(batch)
    this.#schedule()
  }

  async #ask(batch: readonly PolledFile[]): Promise<void> {
    const round = new AbortController()
    this.#round = round
    this.#askedAtMs = performance.now()
    // Prevents that the response, which may be older, undoes a notification that comes during the request.
    for (const file of batch) file.nextAtMs = Number.POSITIVE_INFINITY
    try {
      const entries = await this.#poll(
        batch.map((file) => file.id),
        round.signal,
      )
      this.#failingSinceMs = null
      for (const [index, file] of batch.entries()) if (this.#isPolled(file)) this.#take(file, entries[index])
    } catch (thrown) {
      if (!round.signal.aborted) this.#fail(batch.filter(this.#isPolled), toVoxmuxError(thrown))
    } finally {
      this.#round = undefined
      for (const file of batch) if (file.nextAtMs === Number.POSITIVE_INFINITY) this.#postpone(file)
    }
  }

  #take(file: PolledFile, entry: FileStatus | undefined): void {
    const now = performance.now()
    if (!entry) {
      this.#keepWaiting(file, now)
      return
    }
    file.unansweredSinceMs = null
    if (entry.status === 'NotFound') {
      file.notFoundSinceMs ??= now
      if (now - file.notFoundSinceMs < this.#polling.notFoundGraceMs) return
    } else file.notFoundSinceMs = null
    const isNews = entry.status === 'Failed' && file.last?.status !== 'Failed'
    this.#report(file, entry)
    if (isNews) {
      // Asks again before it counts: a voice that is given up because of one wrong response is paid for twice.
      file.nextAtMs = 0
      return
    }
    if (entry.status === 'Pending' || entry.status === 'InProgress') {
      const unchangedMs = now - file.changedMs
      if (unchangedMs >= this.#polling.unchangedMs) this.#failAll([file], statusUnchanged(entry, unchangedMs))
      return
    }
    this.#files.delete(file.id)
    for (const waiter of file.waiters) waiter.resolve(entry)
  }

  /** Handles a response without this file. Its waiters fail after `polling.outageMs`. */
  #keepWaiting(file: PolledFile, now: number): void {
    file.unansweredSinceMs ??= now
    if (now - file.unansweredSinceMs < this.#polling.outageMs) return
    const message = `The service reports the status of other files, but no readable status of file id ${file.id}.`
    const remedies = ['Run the same command again later. Voices that are paid for are kept.']
    this.#failAll([file], new TransientError('ERR_BAD_ANSWER', message, { remedies }))
  }

  #report(file: PolledFile, status: FileStatus): void {
    const { last } = file
    const same =
      last?.status === status.status && last.progress === status.progress && last.errorCode === status.errorCode
    file.last = status
    if (same) return
    file.changedMs = performance.now()
    for (const waiter of file.waiters) tell(waiter, status, this.#logger)
  }

  #fail(batch: readonly PolledFile[], error: Error): void {
    const now = performance.now()
    if (error instanceof TransientError) {
      // One line for the whole outage: each further round fails likewise.
      if (this.#failingSinceMs === null)
        this.#logger.warn({ code: error.code, files: batch.length }, this.#outage(error))
      this.#failingSinceMs ??= now
      if (now - this.#failingSinceMs >= this.#polling.outageMs) this.#failAll([...this.#files.values()], error)
    } else if (error instanceof JobFailedError && batch.length > 1) {
      // One id that the service refuses must not end the wait for ninety-nine others.
      for (const file of batch) file.alone = true
    } else this.#failAll(error instanceof JobFailedError ? batch : [...this.#files.values()], error)
  }

  #outage({ message }: TransientError): string {
    const minutes = Math.ceil(this.#polling.outageMs / 60_000)
    return `${message} voxmux asks again for up to ${minutes} min. The service may work on meanwhile.`
  }

  #failAll(files: readonly PolledFile[], error: Error): void {
    for (const file of files) {
      this.#forget(file)
      for (const waiter of file.waiters) waiter.reject(error)
    }
  }

  #postpone(file: PolledFile): void {
    const now = performance.now()
    const isFailing = this.#failingSinceMs !== null
    const pauseMs = isFailing ? this.#polling.maxMs : this.#pauseMs(file)
    file.nextAtMs = now + pauseMs
    // While the service fails, or webhooks arrive, a file joins earlier requests only after half of its own pause.
    const sparing = isFailing || this.#isHooked(now)
    file.earliestAtMs = now + (sparing ? pauseMs / 2 : Math.min(pauseMs / 2, this.#polling.minMs))
  }

  #pauseMs(file: PolledFile): number {
    const now = performance.now()
    return pollPauseMs(file, this.#polling, now, this.#isHooked(now))
  }

  #isHooked(now: number): boolean {
    return now - this.#hookedAtMs < this.#polling.hooksFreshMs
  }
}

/** Calls a listener. Its errors must not end the polling of others. */
function tell(waiter: Waiter, status: FileStatus, logger: Logger): void {
  try {
    waiter.onStatus?.(status)
  } catch (thrown) {
    logger.error({ fault: thrownMessage(thrown) }, 'A status listener failed')
  }
}
