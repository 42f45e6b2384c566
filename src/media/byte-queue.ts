/** Bytes on their way from a writer, who waits where too many are held, to a reader, who waits where there are none. */
export class ByteQueue implements AsyncIterable<Buffer> {
  readonly #limit: number
  readonly #held: Buffer[] = []
  #bytes = 0
  #isOver = false
  /** The two never wait at the same time. */
  #wake = () => {}

  /** @param limit bytes from which on the writer waits */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Takes bytes, and waits for room; never once the queue is over. */
  async push(bytes: Buffer): Promise<void> {
    this.#held.push(bytes)
    this.#bytes += bytes.length
    this.#wake()
    while (this.#bytes >= this.#limit && !this.#isOver) await this.#change()
  }

  /** What is held can still be read; no more will come. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.#held.shift()
      if (next) {
        this.#bytes -= next.length
        this.#wake()
        yield next
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
