/** Most bytes of one chunk: more than a pipe holds, so that few writes have to be awaited. */
const CHUNK_BYTES = 1 << 18

/**
 * Queue of bytes in one buffer: the writer waits while it is full, the reader while it is empty. A chunk is valid until
 * the next one is requested.
 */
export class SampleRing implements AsyncIterable<Buffer> {
  readonly #room: Buffer
  /** The oldest byte, and the number of bytes. */
  #from = 0
  #held = 0
  #isOver = false
  /** One slot is enough, because writer and reader never wait at the same time. */
  #wake = () => {}

  constructor(sizeBytes: number) {
    this.#room = Buffer.allocUnsafeSlow(sizeBytes)
  }

  /** Copies bytes, and waits for room. Does not wait after {@link end}. */
  async push(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length && !this.#isOver; ) {
      const at = (this.#from + this.#held) % this.#room.length
      const taken = Math.min(bytes.length - done, this.#room.length - this.#held, this.#room.length - at)
      if (taken === 0) {
        await this.#change()
        continue
      }
      bytes.copy(this.#room, at, done, done + taken)
      this.#held += taken
      done += taken
      this.#wake()
    }
  }

  /** Marks the end. The reader still gets the queued bytes. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const given = Math.min(this.#held, this.#room.length - this.#from, CHUNK_BYTES)
      if (given > 0) {
        yield this.#room.subarray(this.#from, this.#from + given)
        this.#from = (this.#from + given) % this.#room.length
        this.#held -= given
        this.#wake()
      } else if (this.#isOver) return
      else await this.#change()
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
