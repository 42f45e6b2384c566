import { frameBytes, type PcmFormat } from '../../pcm/pcm.js'
import { fullScaleOf, readSamples, valuesOf } from '../../pcm/pcm-samples.js'
import { voiceBandSamples } from '../../pcm/voice-band.js'
import { weightedMono } from '../splice/measure-joint.js'

export type SyncPlaceName = 'start' | 'middle' | 'end'

/** A block of a voice as it was fed, summed to mono, to be found again in the output. */
export interface SyncSample {
  readonly at: SyncPlaceName
  /** On the file's clock. */
  readonly atSample: number
  /**
   * Mono: the block between {@link syncReach} samples of the sound before and after it, zeros beyond the ends. Empty if
   * all of that third is silence, or covered by the noise of a louder one in a very short file.
   */
  readonly values: Float64Array
}

/** Offset between sound and picture at one place of the output. */
export interface SyncPlace {
  readonly at: SyncPlaceName
  /** On the file's clock, at the track's rate. */
  readonly atSample: number
  /** Positive if the sound is late; null if the voice is silent there. */
  readonly offsetSamples: number | null
}

/** Search range on each side of the expected place. */
const SEARCH_SEC = 0.1

/** The same in samples. */
export function syncReach(sampleRate: number): number {
  return Math.round(SEARCH_SEC * sampleRate)
}

/** In order of time. */
export const SYNC_PLACES: readonly SyncPlaceName[] = ['start', 'middle', 'end']
/** One second is distinctive enough. A short file has blocks of half a third, so that each third holds a whole one. */
const BLOCK_SEC = 1
const SHORTEST_BLOCK_SEC = 0.05
/** In blocks about as short as a frame of a codec, the noise of the loudest one covers those with less of its energy. */
const COVERED_BLOCK_SEC = 0.2
const COVERED_SHARE = 1e-4
/**
 * Steps in means, in turn. The voice band of such a share of the samples is enough to find the loudest second. With steps
 * of one length, a tone of that period would be silence.
 */
const STRIDES = [5, 3] as const

/**
 * Keeps the block of each third of a voice that is loudest in the voice band. Lossy codecs leave out higher sound, such as
 * shaped dither. Uses memory for seven seconds of mono.
 */
export class SyncReference {
  readonly #format: PcmFormat
  readonly #reach: number
  readonly #blockSamples: number
  readonly #thirdSamples: number
  readonly #best = new Map<SyncPlaceName, { energy: number; sample: SyncSample }>()
  /** A block and its surroundings. Reused, because a new buffer for each second would burden the garbage collector. */
  readonly #window: Buffer
  /** Filled bytes of the window. It begins with silence before the first block. */
  #filled: number
  #blockStart = 0
  sampleCount = 0

  constructor(format: PcmFormat, expectedSamples: number) {
    this.#format = format
    this.#reach = syncReach(format.sampleRate)
    this.#thirdSamples = Math.max(1, Math.ceil(expectedSamples / SYNC_PLACES.length))
    const longest = expectedSamples > 0 ? Math.floor(this.#thirdSamples / 2) : Number.POSITIVE_INFINITY
    const shortest = Math.round(SHORTEST_BLOCK_SEC * format.sampleRate)
    this.#blockSamples = Math.min(Math.round(BLOCK_SEC * format.sampleRate), Math.max(shortest, longest))
    this.#window = Buffer.alloc((this.#blockSamples + 2 * this.#reach) * frameBytes(format))
    this.#filled = this.#reach * frameBytes(format)
  }

  /** Always three: start, middle and end. Read them after {@link end}. */
  get samples(): readonly SyncSample[] {
    return SYNC_PLACES.map((at, place) => {
      const silent = {
        at,
        atSample: Math.min(place * this.#thirdSamples, this.sampleCount),
        values: new Float64Array(),
      }
      const best = this.#best.get(at)
      return best && best.energy >= this.#leastEnergy ? best.sample : silent
    })
  }

  /** Least energy of a block that can be told from the noise of the encoder; 0 if no noise reaches into other blocks. */
  get #leastEnergy(): number {
    if (this.#blockSamples > COVERED_BLOCK_SEC * this.#format.sampleRate) return 0
    return COVERED_SHARE * Math.max(0, ...[...this.#best.values()].map(({ energy }) => energy))
  }

  /** Fewer samples of a track that ends in a block, with silence behind, cannot be found again. */
  get #leastRest(): number {
    return Math.round(Math.min(SHORTEST_BLOCK_SEC * this.#format.sampleRate, this.#blockSamples / 2))
  }

  /** Judges the rest as blocks if it is long enough to be found again. */
  end(): void {
    this.#window.fill(0, this.#filled)
    for (;;) {
      const rest = this.sampleCount - this.#blockStart
      if (rest < this.#blockSamples / 2) return
      this.#judge(Math.min(rest, this.#blockSamples))
      this.#window.fill(0, this.#window.length - this.#blockSamples * frameBytes(this.#format))
    }
  }

  /** Takes a chunk of whole frames. */
  push(chunk: Buffer): void {
    const frame = frameBytes(this.#format)
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.copy(this.#window, this.#filled, at)
      this.#filled += taken
      this.sampleCount += taken / frame
      at += taken
      if (this.#filled === this.#window.length) this.#judge(this.#blockSamples)
    }
  }

  /** Judges the block in the window, then moves the window to the next. */
  #judge(samples: number): void {
    const frame = frameBytes(this.#format)
    const atSample = this.#blockStart
    const at = SYNC_PLACES[
      Math.min(2, Math.floor((atSample + this.#blockSamples / 2) / this.#thirdSamples))
    ] as SyncPlaceName
    const end = this.#reach + samples
    const block = this.#window.subarray(this.#reach * frame, end * frame)
    const before = this.#window.subarray((this.#reach - this.#leastRest) * frame, this.#reach * frame)
    const isRest = heardBytes(before) > 0 && heardBytes(block) < this.#leastRest * frame
    const energy = isRest ? 0 : energyOf(block, this.#format)
    if (energy > (this.#best.get(at)?.energy ?? 0)) {
      const heard = readSamples(this.#window.subarray(0, (end + this.#reach) * frame), this.#format.sample)
      const values = weightedMono([heard], this.#format.channels)
      // Broken floats (NaN, infinities) cannot be correlated.
      if (values.every(Number.isFinite)) this.#best.set(at, { energy, sample: { at, atSample, values } })
    }
    this.#window.copyWithin(0, this.#blockSamples * frame)
    this.#filled -= this.#blockSamples * frame
    this.#blockStart += this.#blockSamples
  }
}

/** Bytes up to the last that is not zero. */
function heardBytes(block: Buffer): number {
  let end = block.length
  while (end > 0 && block[end - 1] === 0) end -= 1
  return end
}

/**
 * Energy in the voice band, of some of the samples; 0 for silence. It is that of the steps from mean to mean, so that
 * wind or an offset is not taken for the loudest voice.
 */
function energyOf(bytes: Buffer, { sampleRate, channels, sample }: PcmFormat): number {
  const values = valuesOf(bytes, sample)
  const mean = voiceBandSamples(sampleRate)
  const scale = fullScaleOf(sample) * mean
  const before = new Float64Array(channels)
  let energy = 0
  let count = 0
  for (let at = 0; at + channels * mean <= values.length; at += channels * mean * (STRIDES[count % 2] as number)) {
    for (let channel = 0; channel < channels; channel++) {
      let sum = 0
      for (let near = 0; near < mean; near++) sum += values[at + near * channels + channel] as number
      if (at > 0) energy += ((sum - (before[channel] as number)) / scale) ** 2
      before[channel] = sum
    }
    count++
  }
  return energy / count > 1e-10 ? energy : 0
}
