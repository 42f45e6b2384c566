/** Queue of bytes: the writer waits while it is full, the reader while it is empty. */
export class ByteQueue implements AsyncIterable<Buffer> {
  readonly #limit: number
  readonly #held: Buffer[] = []
  #bytes = 0
  #isOver = false
  /** One slot is enough, because writer and reader never wait at the same time. */
  #wake = () => {}

  /** @param limit bytes at which the writer waits */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds bytes and waits for room. Does not wait after {@link end}. */
  async push(bytes: Buffer): Promise<void> {
    this.#held.push(bytes)
    this.#bytes += bytes.length
    this.#wake()
    while (this.#bytes >= this.#limit && !this.#isOver) await this.#change()
  }

  /** Marks the end. The reader still gets the queued bytes. */
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
