import { Readable } from 'node:stream'
import type { PcmStream } from './pcm.js'
import { SyncReference, type SyncSample } from './sync-reference.js'

/** A voice on its way into the mux: counted, and sampled for the later check of its place. */
export class VoiceFeed {
  readonly #voice: PcmStream
  readonly #reference: SyncReference

  constructor(voice: PcmStream, expectedSamples: number) {
    this.#voice = voice
    this.#reference = new SyncReference(voice.format, voice.sampleCount ?? expectedSamples)
  }

  /** How many samples went through. */
  get sampleCount(): number {
    return this.#reference.sampleCount
  }

  get syncSamples(): readonly SyncSample[] {
    return this.#reference.samples
  }

  /** The voice; to be read once. */
  get stream(): PcmStream {
    return { format: this.#voice.format, sampleCount: this.#voice.sampleCount, chunks: () => this.#chunks() }
  }

  toReadable(): Readable {
    return Readable.from(this.#chunks(), { objectMode: false, highWaterMark: 1 << 18 })
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#voice.chunks()) {
      this.#reference.push(chunk)
      yield chunk
    }
    this.#reference.end()
  }
}
