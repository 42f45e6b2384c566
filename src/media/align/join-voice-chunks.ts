import { frameBytes, type PcmFormat, type PcmStream } from '../pcm/pcm.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { readSamples, writeSamples } from '../pcm/pcm-samples.js'
import { BUFFER_FRAMES } from '../pcm/pcm-streams.js'
import { raisedCosine } from './splice.js'

/** One of several overlapping parts of a voice. */
interface VoiceChunk {
  /** Position of its first sample in the joined voice. */
  readonly startSample: number
  readonly voice: PcmStream & { readonly sampleCount: number }
}

interface JoinChunksOptions {
  /** Chunks in order, in one format; each overlaps the next. The first begins at 0. */
  readonly chunks: readonly VoiceChunk[]
  /** `joins[i]`: the sample in the overlap at which chunk `i` changes to chunk `i + 1`. */
  readonly joins: readonly number[]
  /** Length of the crossfade, centred at the join and shortened to the overlap. */
  readonly crossfadeSamples: number
  /** `match` adjusts each chunk to the level of the previous one, measured in their overlap. */
  readonly levels: 'match' | 'keep'
}

/** Largest level correction (12 dB). More means another voice, not another level. */
const MOST_GAIN = 4
/** A mean square below this (-60 dB) does not show the level of a voice. */
const SILENT_POWER = 1e-6
/** A hundredth of a dB. */
const INAUDIBLE = 0.001
/** Frames of the overlap that are kept to compare levels. */
const LEVEL_FRAMES = 480_000

/**
 * Joins overlapping chunks into one continuous voice. Joins are crossfaded at equal gain. Everything else is copied bit
 * for bit if levels are kept.
 *
 * @throws RangeError if the chunks do not overlap at their joins
 */
export function joinVoiceChunks(options: JoinChunksOptions): PcmStream {
  const { chunks, joins } = options
  const [first, last] = [chunks[0], chunks.at(-1)]
  if (!first || !last || joins.length !== chunks.length - 1) throw new RangeError('a join between each two chunks')
  for (const [index, join] of joins.entries()) {
    const [before, after] = [chunks[index] as VoiceChunk, chunks[index + 1] as VoiceChunk]
    if (join < after.startSample || join > endOf(before))
      throw new RangeError(`chunks do not overlap at sample ${join}`)
  }
  return { format: first.voice.format, sampleCount: endOf(last), buffers: () => joined(options) }
}

async function* joined({ chunks, joins, crossfadeSamples, levels }: JoinChunksOptions): AsyncGenerator<Buffer> {
  const { format } = (chunks[0] as VoiceChunk).voice
  let at = 0
  let gain = 1
  let reader = new PcmReader((chunks[0] as VoiceChunk).voice)
  try {
    for (const [index, chunk] of chunks.entries()) {
      const next = chunks[index + 1]
      if (!next) {
        yield* copied(reader, endOf(chunk) - at, { format, gain })
        return
      }
      const overlapEnd = Math.min(endOf(chunk), next.startSample + LEVEL_FRAMES)
      const from = Math.max(at, next.startSample)
      yield* copied(reader, from - at, { format, gain })
      const join = joins[index] as number
      // The crossfade must be within the held part of both.
      const held = Math.max(overlapEnd, Math.min(endOf(chunk), join + crossfadeSamples)) - from
      const before = readSamples(await reader.read(held), format.sample).slice()
      await reader.close()
      reader = new PcmReader(next.voice)
      await reader.skip(from - next.startSample)
      const after = readSamples(await reader.read(held), format.sample).slice()
      const nextGain = levels === 'match' ? gain * levelRatio(before, after) : 1
      const half = Math.min(Math.floor(crossfadeSamples / 2), join - from, from + held - join)
      const mixed = before.map((value, slot) => {
        const weight = raisedCosine(from + Math.floor(slot / format.channels) - (join - half), 2 * half)
        // In this form, two equal samples give exactly that sample.
        return value * gain + weight * ((after[slot] as number) * nextGain - value * gain)
      })
      yield writeSamples(mixed, format.sample)
      at = from + held
      gain = nextGain
    }
  } finally {
    await reader.close()
  }
}

async function* copied(reader: PcmReader, frames: number, { format, gain }: { format: PcmFormat; gain: number }) {
  for (let left = frames; left > 0; ) {
    const bytes = await reader.read(Math.min(left, BUFFER_FRAMES))
    if (bytes.length === 0) return
    left -= bytes.length / frameBytes(format)
    yield gain === 1
      ? bytes
      : writeSamples(
          readSamples(bytes, format.sample).map((value) => value * gain),
          format.sample,
        )
  }
}

/** The factor that makes the second as loud as the first; 1, which keeps the bits, if silent or inaudible. */
function levelRatio(first: Float64Array, second: Float64Array): number {
  const power = (values: Float64Array) => values.reduce((sum, value) => sum + value * value, 0) / values.length
  const [one, other] = [power(first), power(second)]
  if (one < SILENT_POWER || other < SILENT_POWER) return 1
  const ratio = Math.sqrt(one / other)
  if (Math.abs(ratio - 1) < INAUDIBLE) return 1
  return Math.min(MOST_GAIN, Math.max(1 / MOST_GAIN, ratio))
}

const endOf = ({ startSample, voice }: VoiceChunk) => startSample + voice.sampleCount
