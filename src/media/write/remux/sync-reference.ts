import { frameBytes, type PcmFormat } from '../../pcm/pcm.js'
import { fullScaleOf, valuesOf } from '../../pcm/pcm-samples.js'

export type SyncPlaceName = 'start' | 'middle' | 'end'

/** A block of a voice as it was fed, summed to mono, to be found again in the output. */
export interface SyncSample {
  readonly at: SyncPlaceName
  /** On the file's clock. */
  readonly atSample: number
  /** Mono; empty if all of that third is silence. */
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

/** In order of time. */
export const SYNC_PLACES: readonly SyncPlaceName[] = ['start', 'middle', 'end']
/** One second is distinctive enough. A short file has blocks of half a third, so that each third holds a whole one. */
const BLOCK_SEC = 1
const SHORTEST_BLOCK_SEC = 0.05
/** Every 16th sample is enough to find the loudest second. */
const STRIDE = 16

/** Keeps the loudest block of each third of a voice; uses memory for six seconds of mono. */
export class SyncReference {
  readonly #format: PcmFormat
  readonly #blockSamples: number
  readonly #thirdSamples: number
  readonly #best = new Map<SyncPlaceName, { energy: number; sample: SyncSample }>()
  /** Reused for all blocks, because a new buffer for each second would burden the garbage collector. */
  readonly #block: Buffer
  #blockBytes = 0
  #blockStart = 0
  sampleCount = 0

  constructor(format: PcmFormat, expectedSamples: number) {
    this.#format = format
    this.#thirdSamples = Math.max(1, Math.ceil(expectedSamples / SYNC_PLACES.length))
    const longest = expectedSamples > 0 ? Math.floor(this.#thirdSamples / 2) : Number.POSITIVE_INFINITY
    const shortest = Math.round(SHORTEST_BLOCK_SEC * format.sampleRate)
    this.#blockSamples = Math.min(Math.round(BLOCK_SEC * format.sampleRate), Math.max(shortest, longest))
    this.#block = Buffer.alloc(this.#blockSamples * frameBytes(format))
  }

  /** Always three: start, middle and end. Read them after {@link end}. */
  get samples(): readonly SyncSample[] {
    return SYNC_PLACES.map((at, place) => {
      const silent = {
        at,
        atSample: Math.min(place * this.#thirdSamples, this.sampleCount),
        values: new Float64Array(),
      }
      return this.#best.get(at)?.sample ?? silent
    })
  }

  /** Judges the rest as a block if it is long enough to be found again. */
  end(): void {
    if (this.#blockBytes >= (this.#blockSamples * frameBytes(this.#format)) / 2) this.#judge()
  }

  /** Takes a chunk of whole frames. */
  push(chunk: Buffer): void {
    const frame = frameBytes(this.#format)
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.copy(this.#block, this.#blockBytes, at)
      this.#blockBytes += taken
      this.sampleCount += taken / frame
      at += taken
      if (this.#blockBytes === this.#block.length) this.#judge()
    }
  }

  #judge(): void {
    const bytes = this.#block.subarray(0, this.#blockBytes)
    const atSample = this.#blockStart
    this.#blockBytes = 0
    this.#blockStart += this.#blockSamples
    const at = SYNC_PLACES[
      Math.min(2, Math.floor((atSample + this.#blockSamples / 2) / this.#thirdSamples))
    ] as SyncPlaceName
    const energy = energyOf(bytes, this.#format, STRIDE)
    if (energy <= (this.#best.get(at)?.energy ?? 0)) return
    const values = monoOf(bytes, this.#format)
    // Broken floats (NaN, infinities) cannot be correlated.
    if (values.every(Number.isFinite)) this.#best.set(at, { energy, sample: { at, atSample, values } })
  }
}

function energyOf(bytes: Buffer, { channels, sample }: PcmFormat, stride: number): number {
  const values = valuesOf(bytes, sample)
  const scale = fullScaleOf(sample)
  const step = channels * stride
  let energy = 0
  for (let at = 0; at + step <= values.length; at += step) {
    for (let channel = 0; channel < channels; channel++) energy += ((values[at + channel] as number) / scale) ** 2
  }
  return energy / (values.length / step) > 1e-10 ? energy : 0
}

/** Sums all channels, as the sync check does. */
function monoOf(bytes: Buffer, { channels, sample }: PcmFormat): Float64Array {
  const values = valuesOf(bytes, sample)
  const scale = fullScaleOf(sample)
  const mono = new Float64Array(Math.floor(values.length / channels))
  for (let place = 0; place < mono.length; place++) {
    let sum = 0
    for (let channel = 0; channel < channels; channel++) sum += (values[place * channels + channel] as number) / scale
    mono[place] = sum
  }
  return mono
}
