import { type Loudness, LoudnessMeter } from './loudness-meter.js'
import type { PcmStream } from './pcm.js'

/** Loudness of a stream, read to its end. For a track of a file: `measureLoudness(decodePcm(media, …))`. */
export async function measureLoudness(stream: PcmStream): Promise<Loudness> {
  const meter = new LoudnessMeter(stream.format)
  for await (const chunk of stream.chunks()) meter.push(chunk)
  return meter.result()
}

/** A stream that is measured while another reader consumes it. */
export interface MeteredPcm {
  /** The same samples. */
  readonly stream: PcmStream
  /** The measurement of the latest reading of {@link stream} so far; null before any. */
  loudness(): Loudness | null
}

/** Measures a stream while it passes, so that it is not read twice. */
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
