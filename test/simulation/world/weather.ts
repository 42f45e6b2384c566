import { Random } from './random.js'

/** How much goes wrong in a seed's month: probabilities by step or by day. */
export interface Weather {
  /** A call of the file system takes its time, and others come between. */
  readonly slowCalls: number
  /** A process is killed in its life. */
  readonly kills: number
  /** A kill is a power cut. */
  readonly powerCuts: number
  readonly lostRequests: number
  readonly lostAnswers: number
  /** The network delivers a request twice; either answer may be the one that arrives. */
  readonly doubledRequests: number
  /** An answer about a file that came before comes once more. */
  readonly doubledAnswers: number
  /** The service answers 500, 503 or 429. */
  readonly busyAnswers: number
  /** The service answers something odd once. */
  readonly oddAnswers: number
  /** The bytes of a download are cut, or are other bytes. */
  readonly badDownloads: number
  /** A file ends in a failure of the service's. */
  readonly failingFiles: number
  /** The service loses a file that it had. */
  readonly lostFiles: number
  /** A start that is repeated is answered with a conflict. */
  readonly hasConflicts: boolean
  readonly clockJumps: number
  readonly fullDisks: number
  readonly lostShares: number
  readonly hasLinks: boolean
  /** An event of the file system that nobody hears of. */
  readonly lostEvents: number
}

/** What goes wrong in the month of a seed: a few things often, most not at all. */
export function weatherOf(seed: number): Weather {
  const random = new Random(seed ^ 0x5eed)
  const some = (most: number, probability = 0.4) => (random.chance(probability) ? random.between(0, most) : 0)
  return {
    slowCalls: random.between(0.01, 0.2),
    kills: some(0.8, 0.6),
    powerCuts: some(1, 0.5),
    lostRequests: some(0.15),
    lostAnswers: some(0.15),
    busyAnswers: some(0.15),
    oddAnswers: some(0.15),
    badDownloads: some(0.4),
    failingFiles: some(0.2, 0.3),
    lostFiles: some(0.1, 0.3),
    hasConflicts: random.chance(0.5),
    clockJumps: some(0.3),
    fullDisks: some(0.3),
    lostShares: some(0.3),
    hasLinks: random.chance(0.7),
    lostEvents: some(1, 0.2),
    doubledRequests: some(0.15),
    doubledAnswers: some(0.15),
  }
}

/** Nothing goes wrong any more. */
export const CALM: Omit<Weather, 'hasConflicts' | 'hasLinks' | 'slowCalls'> = {
  ...{ kills: 0, powerCuts: 0, lostRequests: 0, lostAnswers: 0, doubledRequests: 0, doubledAnswers: 0 },
  ...{ busyAnswers: 0, oddAnswers: 0, badDownloads: 0 },
  ...{ failingFiles: 0, lostFiles: 0, clockJumps: 0, fullDisks: 0, lostShares: 0, lostEvents: 0 },
}
