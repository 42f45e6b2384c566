import { type FileFacts, hasChanged } from './file-facts.js'

/** A file as it was last seen, and since when it is so. */
export interface Settling {
  readonly facts: FileFacts
  /** Of the monotonic clock: a wall clock that is set back or forward makes no file older or younger. */
  readonly unchangedSinceMs: number
}

/**
 * Looks once more: what has changed begins to settle anew.
 *
 * @param nowMs of the monotonic clock (`performance.now()`)
 */
export function settle(before: Settling | undefined, facts: FileFacts, nowMs: number): Settling {
  const unchanged = before !== undefined && !hasChanged(before.facts, facts)
  return { facts, unchangedSinceMs: unchanged ? before.unchangedSinceMs : nowMs }
}
