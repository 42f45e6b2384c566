import type { SampleRange } from '../voice-cut.js'

/** Length of a stretch that one transform compares. */
const STRETCH_SEC = 12
/** A file up to this length is compared completely, so that no jump is missed. */
const WHOLE_SEC = 72
/** In longer files, one stretch represents each part of this length. */
const PART_SEC = 60
/** Length of such a stretch. Their number is bounded, so that two hours cost as much as ten minutes. */
const SAMPLED_STRETCH_SEC = 4
const MOST_STRETCHES = 20

/**
 * Plans which stretches of a cut of `sampleCount` samples are compared. A short cut is compared whole, a long one in
 * evenly spread stretches with its first and last seconds. Each starts on a whole second, because seeking is exact there at every rate.
 */
export function planStretches(sampleCount: number, sampleRate: number): readonly SampleRange[] {
  const lengthSec = sampleCount / sampleRate
  const whole = { startSample: 0, endSample: sampleCount }
  if (lengthSec <= WHOLE_SEC) return splitRange(whole, STRETCH_SEC * sampleRate)
  const count = Math.min(MOST_STRETCHES, Math.ceil(lengthSec / PART_SEC))
  return Array.from({ length: count }, (_, index) =>
    stretchAt(Math.floor((index * (lengthSec - SAMPLED_STRETCH_SEC)) / (count - 1)), sampleCount, sampleRate),
  )
}

/** The loudest places of a cut, in case the spread ones are silent. @param powers mean square of each second */
export function loudStretches(
  powers: readonly number[],
  sampleCount: number,
  sampleRate: number,
): readonly SampleRange[] {
  const starts: number[] = []
  const byPower = powers.map((power, second) => ({ power, second })).sort((one, other) => other.power - one.power)
  for (const { power, second } of byPower) {
    const start = Math.max(0, second - SAMPLED_STRETCH_SEC / 2)
    const apart = starts.every((other) => Math.abs(other - start) >= SAMPLED_STRETCH_SEC)
    if (power > 0 && apart && starts.length < 8) starts.push(start)
  }
  return starts.sort((one, other) => one - other).map((start) => stretchAt(start, sampleCount, sampleRate))
}

/** Splits a range into parts of `samples`; the last one may be shorter. */
export function splitRange({ startSample, endSample }: SampleRange, samples: number): readonly SampleRange[] {
  const count = Math.max(0, Math.ceil((endSample - startSample) / samples))
  return Array.from({ length: count }, (_, place) => ({
    startSample: startSample + place * samples,
    endSample: Math.min(startSample + (place + 1) * samples, endSample),
  }))
}

function stretchAt(startSec: number, sampleCount: number, sampleRate: number): SampleRange {
  const startSample = startSec * sampleRate
  // The last stretch includes the rest of the second, so that the very end is compared.
  const endSample = Math.min(startSample + (SAMPLED_STRETCH_SEC + 1) * sampleRate, sampleCount)
  return { startSample, endSample }
}
