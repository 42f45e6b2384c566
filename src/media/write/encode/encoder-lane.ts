import { Readable } from 'node:stream'
import { JobFailedError } from '../../../core/errors.js'
import { streamFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { frameBytes, type PcmFormat } from '../../pcm/pcm.js'
import { AAC_FRAME_SAMPLES, adtsFrames } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import { TURN_FRAMES, turnsCommand } from './encoder-turns.js'

/** An AAC encoder in its own process. Keeps the encoded frames until they are taken. */
export class EncoderLane {
  /** Resolves when the encoder has ended; rejects with its error. */
  readonly ended: Promise<void>
  readonly #input: ByteQueue
  readonly #frames: Buffer[] = []
  #isEnded = false

  constructor(format: PcmFormat, encoding: AudioEncoding, signal: AbortSignal) {
    // The queue holds one turn: this encoder works on it while the other one is fed.
    this.#input = new ByteQueue(TURN_FRAMES * AAC_FRAME_SAMPLES * frameBytes(format))
    const source = Readable.from(this.#input, { objectMode: false, highWaterMark: 1 << 16 })
    const { stdout } = streamFfmpeg(turnsCommand(source, format, encoding), { signal })
    this.ended = this.#collect(stdout)
    this.ended.catch(() => {})
  }

  /** Number of frames that can be taken now. */
  get held(): number {
    return this.#frames.length
  }

  take(count: number): Buffer[] {
    return this.#frames.splice(0, count)
  }

  /** Feeds samples and waits while the queue is full. @throws the error of the encoder */
  async write(bytes: Buffer): Promise<void> {
    await this.#input.push(bytes)
    if (!this.#isEnded) return
    await this.ended
    throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The AAC encoder ended before it had all samples.')
  }

  end(): void {
    this.#input.end()
  }

  async #collect(stdout: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const frame of adtsFrames(stdout)) this.#frames.push(frame)
    } finally {
      this.#isEnded = true
      // Wakes a writer that waits for a process that has ended.
      this.#input.end()
    }
  }
}

/** Queue of bytes: the writer waits while it is full, the reader while it is empty. */
class ByteQueue implements AsyncIterable<Buffer> {
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
