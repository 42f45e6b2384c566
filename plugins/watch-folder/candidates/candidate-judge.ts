import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type PQueue from 'p-queue'
import { toVoxmuxError, type VoxmuxError } from '../../../src/core/errors.js'
import type { Logger } from '../../../src/core/logger.js'
import { likelyReceipt } from '../../../src/pipeline/output/existing-output.js'
import type { Intake, IntakeResult } from '../intake/intake.js'
import type { WatchedFolder } from '../watched-folder.js'
import type { Candidate, Settling } from './candidates.js'
import { hasChanged, isGone } from './file-facts.js'
import { fileKey } from './open-writers.js'
import { judgeWholeness, type Wholeness } from './wholeness.js'
import type { WriterWatch } from './writer-watch.js'

/** Why a file is not taken yet. */
const WAITS: Readonly<Record<(Wholeness & { state: 'waits' })['why'], string>> = {
  marker: 'waits for its marker',
  open: 'waits: a process has it open for writing',
  hollow: 'waits: part of it is nothing but zeros',
  unreadable: 'waits: it cannot be read to its end',
}

export interface CandidateJudgeOptions {
  readonly folder: WatchedFolder
  readonly intake: Intake
  /** Shared by all folders. It limits how many files are judged at once. */
  readonly judging: PQueue
  readonly writers: WriterWatch
  readonly logger: Logger
  /** Ends all judging. */
  readonly signal: AbortSignal
  readonly onTaken: (candidate: Candidate, taken: IntakeResult) => void
  /** Called when there is room for another file. */
  readonly onFree: () => void
}

/** Most files of one folder that are judged or wait, so that 20,000 files do not hold up another folder. */
const MOST_JUDGED = 4
/** Pause before an unchanged file is judged again. */
const AGAIN_MS = 500

/** Judges whether settled files are whole, and queues those that are. */
export class CandidateJudge {
  readonly #options: CandidateJudgeOptions
  #judged = 0

  constructor(options: CandidateJudgeOptions) {
    this.#options = options
  }

  get hasRoom(): boolean {
    return this.#judged < MOST_JUDGED
  }

  /** Judges a file, unless that is under way or there is no room. The caller asks again. */
  judge(candidate: Candidate): void {
    if (!candidate.isBeingJudged && this.hasRoom) void this.#judge(candidate)
  }

  async #judge(candidate: Candidate): Promise<void> {
    const { judging, signal, onTaken, onFree } = this.#options
    candidate.isBeingJudged = true
    this.#judged++
    try {
      const taken = await judging.add(() => this.#judgeNow(candidate))
      if (taken?.outcome === 'later') candidate.judgeAtMs = performance.now() + AGAIN_MS
      if (taken) onTaken(candidate, taken)
    } catch (thrown) {
      candidate.judgeAtMs = performance.now() + AGAIN_MS
      const error = toVoxmuxError(thrown)
      if (!signal.aborted && !isGone(error.cause)) this.#warn(candidate, error)
    } finally {
      candidate.isBeingJudged = false
      this.#judged--
      onFree()
    }
  }

  /** @returns undefined for a file that waits */
  async #judgeNow(candidate: Candidate): Promise<IntakeResult | undefined> {
    const { folder, writers, intake, signal } = this.#options
    const { path, settling } = candidate
    signal.throwIfAborted()
    // Taken as a source, every finished file would be paid for a second time.
    if (await likelyReceipt(join(folder.path, path), signal)) return { outcome: 'output' }
    const wholeness = await judgeWholeness({
      ...{ path: join(folder.path, path), facts: settling.facts, patienceMs: folder.patienceMs, signal },
      unchangedMs: performance.now() - settling.unchangedSinceMs,
      marker: folder.filter.marker,
      writerOf: (key) => writers.writerOf(key),
    })
    if (wholeness.state === 'waits') return this.#wait(candidate, settling, wholeness)
    const restMs = settling.unchangedSinceMs + folder.settleMs - performance.now()
    if (restMs > 0) {
      await sleep(restMs, undefined, { signal })
      const writer = await writers.writerOf(fileKey(settling.facts))
      if (writer) return this.#wait(candidate, settling, { state: 'waits', why: 'open', writer })
    }
    // A file that changed meanwhile is not taken.
    return intake.take(path, settling.facts, signal)
  }

  /** Says once that a file cannot be judged now. */
  #warn(candidate: Candidate, { code, message }: VoxmuxError): void {
    if (candidate.why === code) return
    candidate.why = code
    const input = join(this.#options.folder.path, candidate.path)
    this.#options.logger.warn({ input, code }, `${input} cannot be examined yet: ${message}`)
  }

  #wait(candidate: Candidate, judged: Settling, { why, writer }: Wholeness & { state: 'waits' }): undefined {
    // The file was written to while it was judged, so the verdict may miss its last byte.
    if (hasChanged(judged.facts, candidate.settling.facts)) return
    const { folder, logger } = this.#options
    const isOfThePatience = why === 'hollow' || why === 'unreadable'
    const { unchangedSinceMs } = candidate.settling
    candidate.judgeAtMs = isOfThePatience ? unchangedSinceMs + folder.patienceMs : performance.now() + AGAIN_MS
    if (candidate.why === why) return
    candidate.why = why
    const by = writer ? { pid: writer.pid, command: writer.command } : {}
    logger.info({ input: join(folder.path, candidate.path), why, ...by }, WAITS[why])
  }
}
