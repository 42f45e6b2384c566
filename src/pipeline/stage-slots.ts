import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { STAGE_DEFAULTS } from '../config/settings-schema.js'

/** Limits of one process for each kind of stage, however many jobs it has. */
export interface StageLimits {
  /** Stages that load this machine: ffmpeg, hashing, measuring. */
  readonly local?: number | undefined
  /** Voices being uploaded or downloaded. */
  readonly transfers?: number | undefined
  /** Voices at the service. */
  readonly remote?: number | undefined
}

/** A few more than the processors, because some wait for the disk. */
const LOCAL = availableParallelism() + 2

/**
 * Slots for one kind of stage, granted in order. A holder must not ask for a second slot of its kind, which would
 * deadlock.
 */
export class Slots {
  readonly #queue: PQueue

  constructor(count: number) {
    this.#queue = new PQueue({ concurrency: count })
  }

  /**
   * Waits for a free slot.
   *
   * @returns frees the slot; an abort frees it at once
   * @throws the signal's reason if it fires first
   */
  take(signal?: AbortSignal): Promise<() => void> {
    return new Promise((taken, refused) => {
      const held = () => new Promise<void>((free) => taken(free))
      this.#queue.add(held, signal ? { signal } : {}).catch(refused)
    })
  }

  /**
   * Runs the work when a slot is free, and waits until it has cleaned up after an abort.
   *
   * @throws whatever the work throws; the signal's reason if it fires
   */
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
  readonly local: Slots
  readonly transfers: Slots
  /** Held from before the upload until the download is complete. The holder may wait for one of `transfers`. */
  readonly remote: Slots
}

/** Opens the slots of a process. The defaults keep machine, network and service busy. */
export function openStageSlots(limits: StageLimits = {}): StageSlots {
  const { local = LOCAL, transfers = STAGE_DEFAULTS.transfers, remote = STAGE_DEFAULTS.remote } = limits
  return { local: new Slots(local), transfers: new Slots(transfers), remote: new Slots(remote) }
}
