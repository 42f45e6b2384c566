import { frameBytes, type PcmStream } from './pcm.js'

/** Reads a {@link PcmStream} in amounts of the reader's choice. Call {@link PcmReader.close} to stop early. */
export class PcmReader {
  readonly #frame: number
  readonly #source: AsyncIterator<Buffer>
  #held: Buffer[] = []
  #heldBytes = 0
  #ended = false

  constructor(stream: PcmStream) {
    this.#frame = frameBytes(stream.format)
    this.#source = stream.chunks()[Symbol.asyncIterator]()
  }

  /** The next `frames` samples; fewer only at the end of the stream, none after it. */
  async read(frames: number): Promise<Buffer> {
    const wanted = frames * this.#frame
    while (this.#heldBytes < wanted && !this.#ended) {
      const next = await this.#source.next()
      if (next.done) this.#ended = true
      else {
        this.#held.push(next.value)
        this.#heldBytes += next.value.length
      }
    }
    return this.#take(Math.min(wanted, this.#heldBytes))
  }

  /** Skips the next `frames` samples without holding them. */
  async skip(frames: number): Promise<void> {
    for (let left = frames; left > 0; ) {
      const skipped = (await this.read(Math.min(left, 65_536))).length / this.#frame
      if (skipped === 0) return
      left -= skipped
    }
  }

  /** Ends the source. */
  async close(): Promise<void> {
    this.#ended = true
    this.#held = []
    this.#heldBytes = 0
    await this.#source.return?.()
  }

  #take(bytes: number): Buffer {
    const parts: Buffer[] = []
    let left = bytes
    while (left > 0) {
      const head = this.#held.shift() as Buffer
      if (head.length > left) {
        parts.push(head.subarray(0, left))
        this.#held.unshift(head.subarray(left))
        left = 0
      } else {
        parts.push(head)
        left -= head.length
      }
    }
    this.#heldBytes -= bytes
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }
}
