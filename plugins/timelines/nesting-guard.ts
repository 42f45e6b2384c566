import { TimelineSyntaxError } from './timeline-error.js'

/** Sequences in one another; more are a circle. */
const MAX_DEPTH = 64
/** Sequences played in all: a few that contain one another twice each are more than a machine can walk. */
const MAX_VISITS = 20_000
/** Clips walked in all: a thousand parts of one sequence with a thousand clips are as many. */
const MOST_CLIPS = 1_000_000

/** Ends the walk of a timeline whose sequences contain one another, or that was made to have no end. */
export class NestingGuard {
  readonly #mostVisits: number
  #visits = 0
  #clips = 0

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

  /** Called with the number of clips wherever a list of them is walked. @throws {TimelineSyntaxError} */
  pass(clips: number): void {
    this.#clips += clips
    if (this.#clips > MOST_CLIPS) throw new TimelineSyntaxError('it plays too many clips in sequences')
  }
}
