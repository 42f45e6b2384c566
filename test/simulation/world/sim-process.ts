/** One simulated process of voxmux. A killed one never gets another answer from the world. */
export class SimProcess {
  isAlive = true
  /** Steps that it still makes before it is killed. */
  stepsLeft = Number.POSITIVE_INFINITY

  constructor(
    readonly name: string,
    readonly pid: number,
    readonly startTicks: number,
  ) {}
}

/** Thrown into a killed process by what answers at once: nothing that it does afterwards reaches the world. */
export class ProcessGone extends Error {
  constructor() {
    super('This simulated process was killed.')
  }
}

/** The answer to whoever is not there any more. */
export function never<T>(): Promise<T> {
  return new Promise(() => {})
}
