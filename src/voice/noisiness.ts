import { FRAME_SAMPLES } from './rnnoise.js'

/** Frames a second. */
const RATE = 48_000 / FRAME_SAMPLES
/** The background is judged over what lies so far before and behind a place. */
export const PAST_SEC = 6.4
export const FUTURE_SEC = 4
/** Between the places that are judged; the judgement is interpolated. */
const STEP_SEC = 0.4

const VOICE_PERCENTILE = 0.95
const BACKGROUND_PERCENTILE = 0.1
/** Below this there is digital silence or dither: it says nothing of the background (mean square, full scale 1). */
const SILENCE_POWER = 1e-9

/**
 * How far the background lies under the voice, as time goes by: in dB (negative; −60 is very clean), the worse of two
 * views, the plain one and one that weighs high frequencies more, as the ear does.
 *
 * A judgement depends on {@link PAST_SEC} before and {@link FUTURE_SEC} behind it and on nothing else, so that it comes
 * out the same wherever a block begins. Only what lies at the file's start is judged by as much of what follows.
 *
 * @returns dB at a sample position
 */
export function measureBackground(channels: readonly Float32Array[]): (sample: number) => number {
  const length = channels[0]?.length ?? 0
  const frames = Math.floor(length / FRAME_SAMPLES)
  const plain = new Float32Array(frames)
  const bright = new Float32Array(frames)
  for (const channel of channels) addPowers(channel, plain, bright)

  const steps = Math.ceil(frames / RATE / STEP_SEC) + 1
  const judged = Float32Array.from({ length: steps }, (_, step) => {
    const centre = step * STEP_SEC * RATE
    const from = Math.max(0, Math.round(centre - PAST_SEC * RATE))
    const to = Math.min(frames, Math.max(Math.round(centre + FUTURE_SEC * RATE), (PAST_SEC + FUTURE_SEC) * RATE))
    return Math.max(spread(plain.subarray(from, to)), spread(bright.subarray(from, to)))
  })
  return (sample) => {
    const at = Math.min(steps - 1, Math.max(0, sample / (STEP_SEC * 48_000)))
    const left = Math.floor(at)
    const a = judged[left] ?? 0
    const b = judged[Math.min(steps - 1, left + 1)] ?? a
    return a + (b - a) * (at - left)
  }
}

function addPowers(channel: Float32Array, plain: Float32Array, bright: Float32Array): void {
  let previous = channel[0] ?? 0
  for (let frame = 0; frame < plain.length; frame++) {
    let sum = 0
    let brightSum = 0
    for (let i = frame * FRAME_SAMPLES; i < (frame + 1) * FRAME_SAMPLES; i++) {
      const value = channel[i] ?? 0
      const step = value - previous
      sum += value * value
      brightSum += step * step
      previous = value
    }
    plain[frame] = (plain[frame] ?? 0) + sum / FRAME_SAMPLES
    bright[frame] = (bright[frame] ?? 0) + brightSum / FRAME_SAMPLES
  }
}

/** From the loud to the quiet of some frames, in dB; 0 where all are silent (then nothing can be harmed). */
function spread(powers: Float32Array): number {
  const heard = powers.filter((power) => power > SILENCE_POWER).sort()
  if (heard.length === 0) return 0
  const at = (percentile: number) => heard[Math.floor(percentile * (heard.length - 1))] ?? SILENCE_POWER
  return 10 * Math.log10(at(BACKGROUND_PERCENTILE) / at(VOICE_PERCENTILE))
}
