import { setTimeout as sleep } from 'node:timers/promises'
import { type OpenWriter, openWriters } from './open-writers.js'

/** One walk through `/proc` serves all requests within this time. */
const GATHER_MS = 20

/** Finds the writer of a file, for many requests at once. */
export class WriterWatch {
  #wanted = new Set<string>()
  #asking: Promise<ReadonlyMap<string, OpenWriter>> | undefined

  /** @param key see `fileKey` */
  async writerOf(key: string): Promise<OpenWriter | undefined> {
    this.#wanted.add(key)
    this.#asking ??= this.#ask()
    return (await this.#asking).get(key)
  }

  async #ask(): Promise<ReadonlyMap<string, OpenWriter>> {
    await sleep(GATHER_MS)
    const wanted = this.#wanted
    this.#wanted = new Set()
    this.#asking = undefined
    return openWriters(wanted)
  }
}
