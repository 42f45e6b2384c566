/** Smallest difference that matters to signed links, which live for minutes to hours. */
const NOTABLE_MS = 2 * 60_000

/** Reports that the clocks of this machine and of the service differ. */
export interface ClockNote {
  /** Part of a sentence. */
  readonly words: string
  readonly remedy: string
}

/**
 * Compares the clock of this machine with the `Date` of a response.
 *
 * @param date the header; undefined if the response has none
 * @returns undefined if they agree within two minutes, or the date is unknown
 */
export function clockNote(date: string | undefined, nowMs: number = Date.now()): ClockNote | undefined {
  const aheadMs = nowMs - Date.parse(date ?? '')
  if (Number.isNaN(aheadMs) || Math.abs(aheadMs) < NOTABLE_MS) return undefined
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  const way = aheadMs > 0 ? 'ahead of' : 'behind'
  return {
    words: `the clock of this machine is ${minutes} minutes ${way} the clock of the service`,
    remedy: 'Set the clock of this machine (with NTP), then run again.',
  }
}
