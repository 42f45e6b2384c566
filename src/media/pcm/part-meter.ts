import type { SampleRange } from '../voice-cut.js'
import { type Loudness, LoudnessMeter } from './loudness-meter.js'
import { frameBytes, type PcmStream } from './pcm.js'

/** Measures parts of a track as one sound, while other readers consume the sections that hold them. */
export class PartMeter {
  readonly #ranges: readonly SampleRange[]
  #meter: LoudnessMeter | undefined

  /** @param ranges in samples of the track */
  constructor(ranges: readonly SampleRange[]) {
    // Channels that are regenerated one by one have the same ranges.
    this.#ranges = [...new Map(ranges.map((range) => [range.startSample, range])).values()]
  }

  /** The measurement of what was read so far; null if nothing was. */
  get loudness(): Loudness | null {
    return this.#meter?.result() ?? null
  }

  /** The same samples. */
  over(stream: PcmStream, startSample: number): PcmStream {
    return { ...stream, buffers: () => this.#measured(stream, startSample) }
  }

  async *#measured({ format, buffers }: PcmStream, startSample: number): AsyncGenerator<Buffer> {
    this.#meter ??= new LoudnessMeter(format)
    const frame = frameBytes(format)
    let at = startSample
    for await (const buffer of buffers()) {
      const end = at + buffer.length / frame
      for (const range of this.#ranges) {
        const from = Math.max(at, range.startSample)
        const to = Math.min(end, range.endSample)
        if (to > from) this.#meter.push(buffer.subarray((from - at) * frame, (to - at) * frame))
      }
      at = end
      yield buffer
    }
  }
}
