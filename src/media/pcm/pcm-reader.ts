import { frameBytes, type PcmStream } from './pcm.js'

/** Reads a {@link PcmStream} in amounts of the reader's choice. Call {@link PcmReader.close} to stop early. */
export class PcmReader {
  readonly #frame: number
  readonly #source: AsyncIterator<Buffer>
  /** The part of the current buffer that was not read yet. */
  #left: Buffer = Buffer.alloc(0)
  /** Holds an amount that no buffer has whole. Reused. */
  #room: Buffer = Buffer.alloc(0)
  #ended = false

  constructor(stream: PcmStream) {
    this.#frame = frameBytes(stream.format)
    this.#source = stream.buffers()[Symbol.asyncIterator]()
  }

  /** The next `frames` samples, valid until the next call; fewer only at the end of the stream, none after it. */
  async read(frames: number): Promise<Buffer> {
    const wanted = frames * this.#frame
    await this.#next()
    if (this.#left.length >= wanted || this.#ended) return this.#take(wanted)
    if (this.#room.length < wanted) this.#room = Buffer.allocUnsafeSlow(wanted)
    let filled = 0
    while (filled < wanted && this.#left.length > 0) {
      filled += this.#take(wanted - filled).copy(this.#room, filled)
      if (filled < wanted) await this.#next()
    }
    return this.#room.subarray(0, filled)
  }

  async skip(frames: number): Promise<void> {
    for (let left = frames * this.#frame; left > 0; left -= this.#take(left).length) {
      await this.#next()
      if (this.#left.length === 0) return
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    this.#left = Buffer.alloc(0)
    await this.#source.return?.()
  }

  /** Takes up to so many bytes of the current buffer. */
  #take(bytes: number): Buffer {
    const taken = this.#left.subarray(0, bytes)
    this.#left = this.#left.subarray(taken.length)
    return taken
  }

  /** Gets another buffer if nothing is left of the current one. */
  async #next(): Promise<void> {
    while (this.#left.length === 0 && !this.#ended) {
      const next = await this.#source.next()
      if (next.done) this.#ended = true
      else this.#left = next.value
    }
  }
}
