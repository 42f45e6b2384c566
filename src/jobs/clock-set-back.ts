/**
 * A job that was put off waits by the clock of the wall. Where that is set back by hours, it would wait for hours: it is
 * due at once when it was put off at a time that, as the clock goes now, is yet to come by more than this.
 */
export const CLOCK_SLACK_MS = 60_000
/** What was put off by more waits for somebody, not for a time. */
export const LONGEST_WAIT_MS = 2 * 24 * 3600 * 1000
