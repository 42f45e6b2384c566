import { Readable } from 'node:stream'
import type { PcmStream } from '../../pcm/pcm.js'
import { SyncReference, type SyncSample } from './sync-reference.js'

/** Feeds a voice to the mux, counts it, and keeps samples for the sync check. */
export class VoiceFeed {
  readonly #voice: PcmStream
  readonly #reference: SyncReference

  constructor(voice: PcmStream, expectedSamples: number) {
    this.#voice = voice
    this.#reference = new SyncReference(voice.format, voice.sampleCount ?? expectedSamples)
  }

  /** Number of samples that were fed. */
  get sampleCount(): number {
    return this.#reference.sampleCount
  }

  get syncSamples(): readonly SyncSample[] {
    return this.#reference.samples
  }

  /** The voice; can be read once. */
  get stream(): PcmStream {
    return { format: this.#voice.format, sampleCount: this.#voice.sampleCount, chunks: () => this.#chunks() }
  }

  toReadable(): Readable {
    return VoiceFeed.readableOf(this.stream)
  }

  /** Turns a stream of samples into a Node stream for a child's stdin or a file. */
  static readableOf(stream: PcmStream): Readable {
    return Readable.from(stream.chunks(), { objectMode: false, highWaterMark: 1 << 18 })
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#voice.chunks()) {
      this.#reference.push(chunk)
      yield chunk
    }
    this.#reference.end()
  }
}
