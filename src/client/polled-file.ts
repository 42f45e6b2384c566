import type { PollingOptions } from './client-options.js'
import type { FileStatus } from './file-status.js'

/** A caller that waits for a file. */
export interface Waiter {
  readonly resolve: (status: FileStatus) => void
  readonly reject: (error: unknown) => void
  readonly onStatus: ((status: FileStatus) => void) | undefined
}

/** State of one file id in the watcher. Times are `performance.now()`, because the clock may be set back. */
export interface PolledFile {
  readonly id: string
  readonly sinceMs: number
  readonly waiters: Set<Waiter>
  nextAtMs: number
  /** Time from which it may join a request for others; absent: `nextAtMs`. */
  earliestAtMs?: number
  last: FileStatus | null
  /** Time since which its status is {@link last}. */
  changedMs: number
  /** Time since which each response was NotFound. */
  notFoundSinceMs: number | null
  /** Time since which responses had no readable entry for this file. */
  unansweredSinceMs: number | null
  /** Polled alone, because a request that included it was refused. */
  alone: boolean
}

/**
 * Pause until the next poll of a file: an eighth of the elapsed time, within the limits. It is half of the remaining
 * time, estimated from the progress, if that is less. A short job is noticed within a fraction of its own length, and a long
 * one needs few polls. While webhooks arrive, polls are only a safety net.
 */
export function pollPauseMs(file: PolledFile, polling: PollingOptions, nowMs: number, hooked: boolean): number {
  const elapsedMs = nowMs - file.sinceMs
  const progress = file.last?.status === 'InProgress' ? file.last.progress : 0
  const leftMs = progress > 0 ? (elapsedMs * (100 - progress)) / progress : Number.POSITIVE_INFINITY
  const wanted = Math.min(elapsedMs / 8, leftMs / 2)
  const bounded = Math.min(polling.maxMs, Math.max(polling.minMs, wanted))
  // Jitter of a tenth keeps the processes of a farm from polling in step.
  return Math.round((hooked ? Math.max(bounded, polling.hookedMs) : bounded) * (0.95 + Math.random() / 10))
}

/**
 * Time of the next request: when the first file is due, but not before `calmMs`. Files that were started one after the
 * other are polled together. A full request does not wait. Neither does a file that must be polled at once (`nextAtMs`
 * 0).
 */
export function nextRoundAtMs(files: Iterable<PolledFile>, calmMs: number, max: number): number {
  let first = Number.POSITIVE_INFINITY
  let due = 0
  for (const { nextAtMs } of files) {
    first = Math.min(first, nextAtMs)
    if (nextAtMs <= calmMs) due++
  }
  return first === 0 || due >= max ? first : Math.max(first, calmMs)
}

/**
 * Files to poll now, at most `max`, earliest first. A file that is polled alone gets its own batch. Others may join a
 * request before their time (`earliestAtMs`). Requests are then full: a poll of all files takes one per hundred.
 */
export function dueBatch(files: Iterable<PolledFile>, nowMs: number, max: number): PolledFile[] {
  const isDue = ({ nextAtMs, earliestAtMs = nextAtMs }: PolledFile) => Math.min(nextAtMs, earliestAtMs) <= nowMs
  const due = [...files].filter(isDue).sort((a, b) => a.nextAtMs - b.nextAtMs)
  const first = due[0]
  if (first?.alone) return [first]
  return due.filter((file) => !file.alone).slice(0, max)
}
