import { TimelineSyntaxError } from './timeline-error.js'

/** Sequences in one another; more are a circle. */
const MAX_DEPTH = 64
/** Sequences played in all: a few that contain one another twice each are more than a machine can walk. */
const MAX_VISITS = 20_000

/** Ends the walk of a timeline whose sequences contain one another, or that was made to have no end. */
export class NestingGuard {
  readonly #mostVisits: number
  #visits = 0

  /** @param mostVisits of sequences in all */
  constructor(mostVisits = MAX_VISITS) {
    this.#mostVisits = mostVisits
  }

  /** Called wherever a sequence is entered. @throws {TimelineSyntaxError} */
  enter(depth: number): void {
    this.#visits++
    if (depth > MAX_DEPTH) throw new TimelineSyntaxError('its sequences contain one another')
    if (this.#visits > this.#mostVisits) throw new TimelineSyntaxError('it plays too many sequences in sequences')
  }
}
