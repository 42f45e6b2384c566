import { Readable } from 'node:stream'
import { JobFailedError } from '../core/errors.js'
import { AAC_FRAME_SAMPLES, adtsFrames } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import { ByteQueue } from './byte-queue.js'
import { TURN_FRAMES, turnsCommand } from './encoder-turns.js'
import { streamFfmpeg } from './ffmpeg.js'
import { frameBytes, type PcmFormat } from './pcm.js'

/** An AAC encoder in a process of its own. What comes out of it is held until it is taken. */
export class EncoderLane {
  /** Settles when the encoder has ended; rejects with what it failed of. */
  readonly ended: Promise<void>
  readonly #input: ByteQueue
  readonly #frames: Buffer[] = []
  #isEnded = false

  constructor(format: PcmFormat, encoding: AudioEncoding, signal: AbortSignal) {
    // A turn is held: this one works on it while the other is given the next.
    this.#input = new ByteQueue(TURN_FRAMES * AAC_FRAME_SAMPLES * frameBytes(format))
    const source = Readable.from(this.#input, { objectMode: false, highWaterMark: 1 << 16 })
    const { stdout } = streamFfmpeg(turnsCommand(source, format, encoding), { signal })
    this.ended = this.#collect(stdout)
    this.ended.catch(() => {})
  }

  /** Frames that can be taken now. */
  get held(): number {
    return this.#frames.length
  }

  /** The next frames; fewer where fewer are held. */
  take(count: number): Buffer[] {
    return this.#frames.splice(0, count)
  }

  /**
   * Gives it samples, and waits where it has enough to do.
   *
   * @throws what the encoder failed of
   */
  async write(bytes: Buffer): Promise<void> {
    await this.#input.push(bytes)
    if (!this.#isEnded) return
    await this.ended
    throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The AAC encoder ended before its time.')
  }

  /** No more samples will come. */
  end(): void {
    this.#input.end()
  }

  async #collect(stdout: AsyncIterable<Buffer>): Promise<void> {
    try {
      for await (const frame of adtsFrames(stdout)) this.#frames.push(frame)
    } finally {
      this.#isEnded = true
      // Whoever waits for room in a process that is gone is woken.
      this.#input.end()
    }
  }
}
