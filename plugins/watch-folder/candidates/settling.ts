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
