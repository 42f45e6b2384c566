import { type Loudness, LoudnessMeter } from './loudness-meter.js'
import type { PcmStream } from './pcm.js'

/** Loudness of a stream, reading it to its end. A track of a file: `measureLoudness(decodePcm(media, …))`. */
export async function measureLoudness(stream: PcmStream): Promise<Loudness> {
  const meter = new LoudnessMeter(stream.format)
  for await (const chunk of stream.chunks()) meter.push(chunk)
  return meter.result()
}

/** A stream that is measured while somebody else reads it. */
export interface MeteredPcm {
  /** The same samples. */
  readonly stream: PcmStream
  /** What the latest reading of {@link stream} has measured so far; null before any. */
  loudness(): Loudness | null
}

/** Measures a stream on its way, so that nothing is read a second time for it. */
export function meteredPcm(source: PcmStream): MeteredPcm {
  let meter: LoudnessMeter | undefined
  return {
    loudness: () => meter?.result() ?? null,
    stream: {
      format: source.format,
      sampleCount: source.sampleCount,
      async *chunks() {
        const current = new LoudnessMeter(source.format)
        meter = current
        for await (const chunk of source.chunks()) {
          current.push(chunk)
          yield chunk
        }
      },
    },
  }
}
