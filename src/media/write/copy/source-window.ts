import type { FileHandle } from 'node:fs/promises'
import { JobFailedError, withPath } from '../../../core/errors.js'
import { fillFrom } from '../../../core/read-at.js'

const WINDOW_BYTES = 1024 ** 2

/** A source of a copy: serves small ranges from one larger read, because packets are read one by one. */
export class SourceWindow {
  readonly #file: FileHandle
  readonly #path: string
  readonly #window: Buffer
  #start = 0
  #length = 0

  /** @param path for errors @param sizeBytes of the file: many small side files need little memory */
  constructor(file: FileHandle, path: string, sizeBytes: number) {
    this.#file = file
    this.#path = path
    this.#window = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, sizeBytes))
  }

  /** Fills `into` from an offset on; undefined: from memory. @throws {JobFailedError} ERR_INPUT_CHANGED */
  read(into: Buffer, at: number): Promise<void> | undefined {
    if (this.#take(into, at)) return undefined
    return into.length > this.#window.length / 4 ? this.#readFully(into, at) : this.#refill(into, at)
  }

  #take(into: Buffer, at: number): boolean {
    const from = at - this.#start
    if (from < 0 || from + into.length > this.#length) return false
    this.#window.copy(into, 0, from, from + into.length)
    return true
  }

  async #refill(into: Buffer, at: number): Promise<void> {
    this.#length = await this.#fill(this.#window, at)
    this.#start = at
    if (!this.#take(into, at)) throw this.#shorter()
  }

  async #readFully(into: Buffer, at: number): Promise<void> {
    if ((await this.#fill(into, at)) < into.length) throw this.#shorter()
  }

  #fill(into: Buffer, at: number): Promise<number> {
    return fillFrom(this.#file, at, into).catch((error: unknown) => {
      throw withPath(error, this.#path)
    })
  }

  #shorter(): JobFailedError {
    return new JobFailedError('ERR_INPUT_CHANGED', `${this.#path} became shorter while it was copied.`, {
      input: this.#path,
      remedies: ['Wait until no program writes to the file, then run again. Everything that was paid is kept.'],
    })
  }
}
