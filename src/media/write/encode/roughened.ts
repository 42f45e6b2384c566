import type { PcmStream } from '../../pcm/pcm.js'
import { fullScaleOf, valuesOf } from '../../pcm/pcm-samples.js'

/** Largest share of a value that is taken away: noise 65 dB below the sound, which no encoder keeps. */
const DEPTH = 2 ** -9
/** A prime, so that the noise fits no frame. */
const NOISE_VALUES = 65_521

/**
 * A sound that ffmpeg's fast search can encode as AAC. The search cuts off the loud bands of a frame if others are more
 * than 90 dB below them. A pure tone at full scale came back only 8 dB above its error. Silence stays silent, and no peak
 * rises.
 */
export function roughened(voice: PcmStream): PcmStream {
  return {
    ...voice,
    buffers: () => roughenedBuffers(voice),
    sections: voice.sections?.map(({ startSample, stream }) => ({ startSample, stream: roughened(stream) })),
  }
}

async function* roughenedBuffers({ format, buffers }: PcmStream): AsyncGenerator<Buffer> {
  const gains = noiseGains()
  const isWhole = fullScaleOf(format.sample) > 1
  let next = 0
  for await (const buffer of buffers()) {
    const rough = Buffer.allocUnsafeSlow(buffer.length)
    buffer.copy(rough)
    next = roughen(valuesOf(rough, format.sample), isWhole, gains, next)
    yield rough
  }
}

/** Multiplies values by the gains from one on, and returns the place of the next gain. Rounds without slow `Math.round`. */
function roughen(values: ReturnType<typeof valuesOf>, isWhole: boolean, gains: Float64Array, from: number): number {
  let next = from
  for (let place = 0; place < values.length; place++) {
    const value = (values[place] as number) * (gains[next] as number)
    values[place] = isWhole ? Math.floor(value + 0.5) : value
    next = next + 1 === NOISE_VALUES ? 0 : next + 1
  }
  return next
}

/** The same factors in every run, from 1 - {@link DEPTH} to 1. */
function noiseGains(): Float64Array {
  let state = 1
  return Float64Array.from({ length: NOISE_VALUES }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return 1 - (DEPTH * state) / 2 ** 32
  })
}
