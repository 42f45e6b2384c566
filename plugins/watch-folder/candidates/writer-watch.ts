import { setTimeout as sleep } from 'node:timers/promises'
import { type OpenWriter, openWriters } from './open-writers.js'

/** Questions that come within so long are answered by one walk through `/proc`. */
const GATHER_MS = 20

/** Asks who writes to a file, for many askers at once. */
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
