import type { FileFacts } from './file-facts.js'
import { type Settling, settle } from './settling.js'

/** A file that is there and was not taken yet. */
export interface Candidate {
  readonly path: string
  settling: Settling
  /** Monotonic; when it is to be looked at next. */
  lookAtMs: number
  /** Monotonic; not to be judged again before, unless it changes. */
  judgeAtMs: number
  isBeingJudged: boolean
  /** Why it waits, as was said last. */
  why: string | null
}

/** Looks at one file follow each other no faster. */
const LOOK_MS = 100
/** With many candidates each is looked at more seldom: so much time a file. */
const LOOK_MS_PER_FILE = 0.5

/** The files of a folder that are not taken yet, and when each is to be looked at again. */
export class Candidates {
  readonly #all = new Map<string, Candidate>()
  readonly #judgeMs: number

  /** @param judgeMs how long a file must be unchanged to be judged: a look falls on the end of that */
  constructor(judgeMs: number) {
    this.#judgeMs = judgeMs
  }

  get size(): number {
    return this.#all.size
  }

  values(): Iterable<Candidate> {
    return this.#all.values()
  }

  /** Notes how a file was found. @param nowMs monotonic */
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

  /** Those that are due for a look, and in nobody's hand. */
  *due(nowMs: number): Generator<Candidate> {
    for (const candidate of this.#all.values())
      if (!candidate.isBeingJudged && candidate.lookAtMs <= nowMs) yield candidate
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
