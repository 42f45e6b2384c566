import { setTimeout as delay } from 'node:timers/promises'
import { InterruptedError } from './errors.js'

export const DAY_MS = 24 * 3600 * 1000

/** Sleeps `ms` milliseconds. An abort ends the sleep at once with {@link InterruptedError}. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {})
  } catch (cause) {
    throw new InterruptedError('Interrupted.', { cause })
  }
}

/** Back-off with jitter: between half and all of `baseMs * 2^attempt`, at most `maxMs`. `attempt` starts at 0. */
export function backoffMs(attempt: number, baseMs: number, maxMs: number, random: () => number = Math.random): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30))
  return Math.round(ceiling * (0.5 + random() / 2))
}

/** Parses seconds (`90`, `1.5`) or `[hh:]mm:ss[.mmm]`. @returns seconds; undefined if it is not a time */
export function parseTime(text: string): number | undefined {
  const match = /^(?:(?:(\d+):)?(\d{1,2}):)?(\d+(?:\.\d+)?|\.\d+)$/.exec(text.trim())
  if (!match) return undefined
  const [, hours, minutes, seconds] = match
  const sec = Number(seconds)
  if (minutes === undefined) return sec
  if (sec >= 60 || (hours !== undefined && Number(minutes) >= 60)) return undefined
  return Number(hours ?? 0) * 3600 + Number(minutes) * 60 + sec
}

/** Parses a duration: like {@link parseTime}, or with units (`10m`, `1h30m`, `45s`, `500ms`). */
export function parseDuration(text: string): number | undefined {
  const plain = parseTime(text)
  if (plain !== undefined) return plain
  const match = /^(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(text.trim())
  if (!match || match[0] === '') return undefined
  const [hours, minutes, seconds, millis] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
  ]
  return hours * 3600 + minutes * 60 + seconds + millis / 1000
}

/** Formats a time for people as `h:mm:ss.mmm`, without leading zero hours. */
export function formatTime(sec: number): string {
  const millis = Math.round(sec * 1000)
  const hours = Math.floor(millis / 3_600_000)
  const minutes = Math.floor(millis / 60_000) % 60
  const rest = ((millis % 60_000) / 1000).toFixed(3).padStart(6, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
