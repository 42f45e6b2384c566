import { type Loudness, LoudnessMeter } from './loudness-meter.js'
import type { PcmStream } from './pcm.js'
import { readSamples, writeSamples } from './pcm-samples.js'
import { TruePeakLimiter } from './true-peak-limiter.js'

/** Loudness of a stream, read to its end. For a track of a file: `measureLoudness(decodePcm(media, …))`. */
export async function measureLoudness(stream: PcmStream): Promise<Loudness> {
  const meter = new LoudnessMeter(stream.format)
  for await (const buffer of stream.buffers()) meter.push(buffer)
  return meter.result()
}

/** Measures a stream while another reader consumes it. @returns `loudness` is null before any reading */
export function meteredPcm(source: PcmStream) {
  let meter: LoudnessMeter | undefined
  return {
    loudness: () => meter?.result() ?? null,
    stream: {
      format: source.format,
      sampleCount: source.sampleCount,
      async *buffers() {
        const current = new LoudnessMeter(source.format)
        meter = current
        for await (const buffer of source.buffers()) {
          current.push(buffer)
          yield buffer
        }
      },
    },
  }
}

interface LoudnessTarget {
  readonly integratedLufs: number
  /** Ceiling. */
  readonly truePeakDbtp: number
}

/** The gain from a measured loudness to its target: the second of two passes. */
interface LoudnessGain {
  readonly gainDb: number
  /** Ceiling of the limiter. Null if the gain alone stays below it, so that the change is purely linear. */
  readonly limitDbtp: number | null
}

/** Plans the gain from the first pass; no gain for silence. */
export function loudnessGain(before: Loudness, target: LoudnessTarget): LoudnessGain {
  if (before.integratedLufs === null) return { gainDb: 0, limitDbtp: null }
  const gainDb = target.integratedLufs - before.integratedLufs
  const peakAfter = (before.truePeakDbtp ?? Number.NEGATIVE_INFINITY) + gainDb
  return { gainDb, limitDbtp: peakAfter > target.truePeakDbtp ? target.truePeakDbtp : null }
}

/** Applies a gain, limited if necessary. Length and timing stay; a gain of 0 keeps every bit. */
export function applyGain(source: PcmStream, { gainDb, limitDbtp }: LoudnessGain): PcmStream {
  if (gainDb === 0 && limitDbtp === null) return source
  const { format } = source
  const factor = 10 ** (gainDb / 20)
  return {
    format,
    sampleCount: source.sampleCount,
    async *buffers() {
      const limiter = limitDbtp === null ? undefined : new TruePeakLimiter(format, limitDbtp)
      for await (const buffer of source.buffers()) {
        const louder = readSamples(buffer, format.sample).map((value) => value * factor)
        const ready = limiter ? limiter.push(louder) : louder
        if (ready.length > 0) yield writeSamples(ready, format.sample)
      }
      const rest = limiter?.end()
      if (rest && rest.length > 0) yield writeSamples(rest, format.sample)
    },
  }
}
