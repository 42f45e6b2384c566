import { JobFailedError } from '../../../core/errors.js'
import { streamFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { frameBytes, type PcmFormat } from '../../pcm/pcm.js'
import { AAC_FRAME_SAMPLES, adtsFrames } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import { TURN_FRAMES, turnsCommand } from './encoder-turns.js'
import { SampleRing } from './sample-ring.js'

/** An AAC encoder in its own process. Keeps the encoded frames until they are taken. */
export class EncoderLane {
  /** Resolves when the encoder has ended; rejects with its error. */
  readonly ended: Promise<void>
  readonly #input: SampleRing
  readonly #frames: Buffer[] = []
  #isEnded = false

  constructor(format: PcmFormat, encoding: AudioEncoding, signal: AbortSignal) {
    // It holds one turn: this encoder works on it while the other one is fed.
    this.#input = new SampleRing(TURN_FRAMES * AAC_FRAME_SAMPLES * frameBytes(format))
    const { stdout } = streamFfmpeg(turnsCommand(this.#input, format, encoding), { signal })
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

  /** Feeds samples and waits for room. @throws the error of the encoder */
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
