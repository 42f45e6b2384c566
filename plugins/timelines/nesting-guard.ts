import { TimelineSyntaxError } from './timeline-error.js'

/** Sequences in one another; more are a circle. */
const MAX_DEPTH = 64
/** Sequences played in all: a few that contain one another twice each are more than a machine can walk. */
const MAX_VISITS = 20_000

/**
 * Ends the walk of a timeline whose sequences contain one another, or that was made to have no end.
 *
 * @param mostVisits of sequences in all
 * @returns what is called wherever a sequence is entered. It throws {@link TimelineSyntaxError}
 */
export function nestingGuard(mostVisits = MAX_VISITS): (depth: number) => void {
  let visits = 0
  return (depth) => {
    visits++
    if (depth > MAX_DEPTH) throw new TimelineSyntaxError('its sequences contain one another')
    if (visits > mostVisits) throw new TimelineSyntaxError('it plays too many sequences in sequences')
  }
}
