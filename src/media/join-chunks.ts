import { raisedCosine } from './crossfade.js'
import { frameBytes, type PcmStream } from './pcm.js'
import { PcmReader } from './pcm-reader.js'
import { readSamples, writeSamples } from './pcm-samples.js'
import { CHUNK_FRAMES } from './pcm-streams.js'

/** One of several overlapping parts of a voice. */
export interface VoiceChunk {
  /** Where its first sample lies in the joined voice. */
  readonly startSample: number
  readonly voice: PcmStream & { readonly sampleCount: number }
}

export interface JoinChunksOptions {
  /** In order, all of one format; each overlaps the next. The first begins at 0. */
  readonly chunks: readonly VoiceChunk[]
  /** `joins[i]`: the sample at which chunk `i` gives way to chunk `i + 1`, inside their overlap. */
  readonly joins: readonly number[]
  /** Centred at the join, shortened to the overlap. */
  readonly crossfadeSamples: number
  /** `match`: each chunk is brought to the level of the one before it, as their overlap tells. */
  readonly levels: 'match' | 'keep'
}

/** Levels are mended by this much at the most (12 dB): more is another voice, not another level. */
const MOST_GAIN = 4
/** Mean square (-60 dB) of what tells nothing about the level of a voice. */
const SILENT_POWER = 1e-6
/** A hundredth of a dB. */
const INAUDIBLE = 0.001
/** Overlap held for the comparison of levels. */
const LEVEL_FRAMES = 480_000

/**
 * One continuous voice out of overlapping chunks: crossfaded at the joins at equal gain, and away from them copied
 * bit for bit where the level is left alone.
 *
 * @throws RangeError where the chunks do not overlap round their joins
 */
export function joinChunks(options: JoinChunksOptions): PcmStream {
  const { chunks, joins } = options
  const [first, last] = [chunks[0], chunks.at(-1)]
  if (!first || !last || joins.length !== chunks.length - 1) throw new RangeError('a join between each two chunks')
  for (const [index, join] of joins.entries()) {
    const [before, after] = [chunks[index] as VoiceChunk, chunks[index + 1] as VoiceChunk]
    if (join < after.startSample || join > endOf(before))
      throw new RangeError(`chunks do not overlap at sample ${join}`)
  }
  return { format: first.voice.format, sampleCount: endOf(last), chunks: () => joined(options) }
}

async function* joined({ chunks, joins, crossfadeSamples, levels }: JoinChunksOptions): AsyncGenerator<Buffer> {
  const { format } = (chunks[0] as VoiceChunk).voice
  const frame = frameBytes(format)
  let at = 0
  let gain = 1
  let reader = new PcmReader((chunks[0] as VoiceChunk).voice)
  try {
    for (const [index, chunk] of chunks.entries()) {
      const next = chunks[index + 1]
      if (!next) {
        yield* copied(reader, endOf(chunk) - at, gain, frame, format.sample)
        return
      }
      const overlapEnd = Math.min(endOf(chunk), next.startSample + LEVEL_FRAMES)
      const from = Math.max(at, next.startSample)
      yield* copied(reader, from - at, gain, frame, format.sample)
      const join = joins[index] as number
      // The crossfade must lie in what is held of both.
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
        // Written so that two equal samples give that very sample.
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

async function* copied(
  reader: PcmReader,
  frames: number,
  gain: number,
  frame: number,
  sample: 's16' | 's32' | 'f32' | 'f64',
) {
  for (let left = frames; left > 0; ) {
    const bytes = await reader.read(Math.min(left, CHUNK_FRAMES))
    if (bytes.length === 0) return
    left -= bytes.length / frame
    yield gain === 1
      ? bytes
      : writeSamples(
          readSamples(bytes, sample).map((value) => value * gain),
          sample,
        )
  }
}

/**
 * By how much the second must be multiplied to be as loud as the first; 1 where either is silent, or where the two
 * differ by nothing that is heard: their bits stay then.
 */
function levelRatio(first: Float64Array, second: Float64Array): number {
  const power = (values: Float64Array) => values.reduce((sum, value) => sum + value * value, 0) / values.length
  const [one, other] = [power(first), power(second)]
  if (one < SILENT_POWER || other < SILENT_POWER) return 1
  const ratio = Math.sqrt(one / other)
  if (Math.abs(ratio - 1) < INAUDIBLE) return 1
  return Math.min(MOST_GAIN, Math.max(1 / MOST_GAIN, ratio))
}

const endOf = ({ startSample, voice }: VoiceChunk) => startSample + voice.sampleCount
