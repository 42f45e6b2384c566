import { type FileFacts, hasChanged } from './file-facts.js'

/** A file as last seen, and since when it has been unchanged. */
export interface Settling {
  readonly facts: FileFacts
  /** By the monotonic clock, so that a change of the wall clock does not matter. */
  readonly unchangedSinceMs: number
}

/** Compares a file with its last state. A change restarts the settle time. @param nowMs of `performance.now()` */
export function settle(before: Settling | undefined, facts: FileFacts, nowMs: number): Settling {
  const unchanged = before !== undefined && !hasChanged(before.facts, facts)
  return { facts, unchangedSinceMs: unchanged ? before.unchangedSinceMs : nowMs }
}

/** A file that exists and was not taken yet. */
export interface Candidate {
  readonly path: string
  settling: Settling
  /** Monotonic time of the next check. */
  lookAtMs: number
  /** Monotonic time before which an unchanged file is not judged again. */
  judgeAtMs: number
  isBeingJudged: boolean
  /** The last logged reason for waiting. */
  why: string | null
}

/** Shortest time between two checks of one file. */
const LOOK_MS = 100
/** With many candidates, each is checked less often: this much time per file. */
const LOOK_MS_PER_FILE = 0.5

/** The files of a folder that are not taken yet, and the time of their next check. */
export class Candidates {
  readonly #all = new Map<string, Candidate>()
  readonly #judgeMs: number

  /** @param judgeMs time for which a file must be unchanged before it is judged; a check falls on its end */
  constructor(judgeMs: number) {
    this.#judgeMs = judgeMs
  }

  get size(): number {
    return this.#all.size
  }

  values(): Iterable<Candidate> {
    return this.#all.values()
  }

  /** Records how a file was found. @param nowMs monotonic */
  see(path: string, facts: FileFacts, nowMs: number): Candidate {
    const known = this.#all.get(path)
    const settling = settle(known?.settling, facts, nowMs)
    const lookAtMs = this.#nextLookMs(settling, nowMs)
    if (!known) {
      const fresh = { path, settling, lookAtMs, judgeAtMs: nowMs, isBeingJudged: false, why: null }
      this.#all.set(path, fresh)
      return fresh
    }
    if (settling.unchangedSinceMs === nowMs) {
      known.judgeAtMs = nowMs
      known.why = null
    }
    known.settling = settling
    known.lookAtMs = lookAtMs
    return known
  }

  /** The files whose check is due and that are not being judged. */
  *due(nowMs: number): Generator<Candidate> {
    for (const candidate of this.#all.values())
      if (!candidate.isBeingJudged && candidate.lookAtMs <= nowMs) yield candidate
  }

  /** The files that can be judged now, in the order in which they were found. */
  *settled(nowMs: number): Generator<Candidate> {
    for (const candidate of this.#all.values()) {
      const { isBeingJudged, judgeAtMs, settling } = candidate
      if (!isBeingJudged && judgeAtMs <= nowMs && nowMs - settling.unchangedSinceMs >= this.#judgeMs) yield candidate
    }
  }

  remove(path: string): void {
    this.#all.delete(path)
  }

  #nextLookMs({ unchangedSinceMs }: Settling, nowMs: number): number {
    const regularMs = nowMs + LOOK_MS + this.#all.size * LOOK_MS_PER_FILE
    const judgedMs = unchangedSinceMs + this.#judgeMs
    return judgedMs > nowMs ? Math.min(regularMs, judgedMs) : regularMs
  }
}
