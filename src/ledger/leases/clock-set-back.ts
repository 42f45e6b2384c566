/**
 * A delayed job waits by the wall clock. If the clock is set back by hours, it would wait for hours. A job is due at
 * once if its delay was recorded more than this far in the future.
 */
export const CLOCK_SLACK_MS = 60_000
/** A longer delay was requested on purpose and is not a retry. */
export const LONGEST_WAIT_MS = 2 * 24 * 3600 * 1000
