import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'

/** How much of each kind of work one process does at once, whatever the number of its jobs. */
export interface StageLimits {
  /** What loads this machine: ffmpeg, hashing, measuring. */
  readonly local?: number | undefined
  /** Voices on their way to the service or back. */
  readonly transfers?: number | undefined
  /** Voices at the service. */
  readonly remote?: number | undefined
}

/** A few more than there are processors: some wait for the disk. */
const LOCAL = availableParallelism() + 2
const TRANSFERS = 8
const REMOTE = 200

/** Places for one kind of work, given in the order asked. Never asked for within the same kind, or it waits for itself. */
export class Slots {
  readonly #queue: PQueue

  constructor(count: number) {
    this.#queue = new PQueue({ concurrency: count })
  }

  /**
   * Does work when there is a place for it.
   *
   * @throws what the work throws; the signal's reason where it fires
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    let running: Promise<T> | undefined
    const started = () => {
      running = work()
      return running
    }
    try {
      return await this.#queue.add(started, signal ? { signal } : {})
    } catch (error) {
      // An abort gives the place up at once; work under way is left to clear up after itself first.
      await running?.catch(() => {})
      throw error
    }
  }
}

/** The places of a process: any number of jobs may wait at the service while a few are cut, sent or muxed. */
export interface StageSlots {
  readonly local: Slots
  readonly transfers: Slots
  /** Held from before a voice is sent until its answer is here; a place here may wait for one of `transfers`. */
  readonly remote: Slots
}

/** Makes the places of a process; what is not said is enough to keep machine, line and service busy. */
export function openStageSlots(limits: StageLimits = {}): StageSlots {
  const { local = LOCAL, transfers = TRANSFERS, remote = REMOTE } = limits
  return { local: new Slots(local), transfers: new Slots(transfers), remote: new Slots(remote) }
}
