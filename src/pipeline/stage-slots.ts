import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { type Settings, STAGE_DEFAULTS } from '../config/settings-schema.js'

/** Limits of one process for each kind of stage, however many jobs it has. */
export type StageLimits = NonNullable<Settings['stages']>

/** A few more than the processors, because some wait for the disk. */
const LOCAL = availableParallelism() + 2

/** Slots for one kind of stage, granted in order. A holder that asked for a second one would deadlock. */
export class StageQueue {
  readonly #queue: PQueue

  constructor(count: number) {
    this.#queue = new PQueue({ concurrency: count })
  }

  /** Waits for a slot. An abort frees it at once. @returns frees it @throws the signal's reason if it fires first */
  take(signal?: AbortSignal): Promise<() => void> {
    return new Promise((taken, refused) => {
      const held = () => new Promise<void>((free) => taken(free))
      this.#queue.add(held, signal ? { signal } : {}).catch(refused)
    })
  }

  /** Runs the work in a slot, and waits for its end after an abort. @throws as the work; the signal's reason */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const free = await this.take(signal)
    try {
      return await work()
    } finally {
      free()
      signal?.throwIfAborted()
    }
  }
}

/** The slots of a process: many jobs may wait at the service while a few are cut, sent or muxed. */
export interface StageSlots {
  readonly local: StageQueue
  readonly transfers: StageQueue
  /** Held from before the upload until the download is complete. The holder may wait for one of `transfers`. */
  readonly remote: StageQueue
}

/** Opens the slots of a process. The defaults keep machine, network and service busy. */
export function openStageSlots(limits: StageLimits = {}): StageSlots {
  const { local = LOCAL, transfers = STAGE_DEFAULTS.transfers, remote = STAGE_DEFAULTS.remote } = limits
  return { local: new StageQueue(local), transfers: new StageQueue(transfers), remote: new StageQueue(remote) }
}
