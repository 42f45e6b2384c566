import type { FileProcessingStatus } from '../contract/index.js'
import type { PollingOptions } from './client-options.js'

/** One who waits for a file. */
export interface Waiter {
  readonly resolve: (status: FileProcessingStatus) => void
  readonly reject: (error: unknown) => void
  readonly onStatus: ((status: FileProcessingStatus) => void) | undefined
}

/** What the watcher knows of one file id. Times are `Date.now()`. */
export interface WatchedFile {
  readonly id: string
  readonly sinceMs: number
  readonly waiters: Set<Waiter>
  nextAtMs: number
  /** From when on it may go along with a request for others; absent: when its own time has come. */
  earliestAtMs?: number
  last: FileProcessingStatus | null
  /** Since when each answer said NotFound. */
  notFoundSinceMs: number | null
  /** Asked without others, because a request with it was refused. */
  alone: boolean
}

/**
 * Pause until the next question about a file: an eighth of the time it has been waited for, or half of the time that
 * its progress says is left if that is less, within the bounds. A short job is noticed within a fraction of its own
 * length; a long one costs few questions. While webhooks arrive they bring the news, and questions only make sure.
 */
export function pollPauseMs(file: WatchedFile, polling: PollingOptions, nowMs: number, hooked: boolean): number {
  const elapsedMs = nowMs - file.sinceMs
  const progress = file.last?.status === 'InProgress' ? file.last.progress : 0
  const leftMs = progress > 0 ? (elapsedMs * (100 - progress)) / progress : Number.POSITIVE_INFINITY
  const wanted = Math.min(elapsedMs / 8, leftMs / 2)
  const bounded = Math.min(polling.maxMs, Math.max(polling.minMs, wanted))
  // A tenth of jitter keeps the processes of a farm from asking in step.
  return Math.round((hooked ? Math.max(bounded, polling.hookedMs) : bounded) * (0.95 + Math.random() / 10))
}

/**
 * When the next request is due: with the file whose time comes first, but not before `calmMs`, so that files which
 * were started one after the other are asked for together. A full request waits for nothing, and neither does a file
 * that is to be asked for at once (`nextAtMs` 0).
 */
export function nextRoundAtMs(files: Iterable<WatchedFile>, calmMs: number, max: number): number {
  let first = Number.POSITIVE_INFINITY
  let due = 0
  for (const { nextAtMs } of files) {
    first = Math.min(first, nextAtMs)
    if (nextAtMs <= calmMs) due++
  }
  return first === 0 || due >= max ? first : Math.max(first, calmMs)
}

/**
 * Ids to ask for now, those first whose time came first, at most `max`; one that is asked alone makes a batch of its
 * own. A request is sent anyway, so whoever may (`earliestAtMs`) goes along before his time: requests are full, and
 * asking once for every file takes one request a hundred.
 */
export function dueBatch(files: Iterable<WatchedFile>, nowMs: number, max: number): WatchedFile[] {
  const due = [...files].filter((file) => mayAskAtMs(file) <= nowMs).sort((a, b) => a.nextAtMs - b.nextAtMs)
  const first = due[0]
  if (first?.alone) return [first]
  return due.filter((file) => !file.alone).slice(0, max)
}

function mayAskAtMs({ nextAtMs, earliestAtMs = nextAtMs }: WatchedFile): number {
  return Math.min(nextAtMs, earliestAtMs)
}
