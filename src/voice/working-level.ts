/** Mean square at which GTCRN works best, −24 dBFS: found by its figures for speech from −80 to −10 dBFS. */
const WORKING_POWER = 0.004
/** Sound further under the mean is a pause, and does not show how loud the speech is. */
const PAUSE_RATIO = 0.1
/** At most 84 dB: silence stays silence. */
const MOST_STEPS = 14

/**
 * The gain that brings a sound to where GTCRN works best, which hears quiet speech as noise. It is a power of two:
 * taken back it leaves no trace, and neighbouring blocks mostly get the same.
 *
 * @param windowSamples length of the pieces whose loudness is compared
 */
export function gainToWorkingLevel(samples: Float32Array, windowSamples: number): number {
  const powers: number[] = []
  for (let start = 0; start < samples.length; start += windowSamples) {
    const window = samples.subarray(start, start + windowSamples)
    powers.push(window.reduce((sum, value) => sum + value * value, 0) / window.length)
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const heard = powers.filter((power) => power > 0)
  if (heard.length === 0) return 1
  const gate = mean(heard) * PAUSE_RATIO
  const power = mean(heard.filter((value) => value >= gate))
  const steps = Math.round(Math.log2(WORKING_POWER / power) / 2)
  return 2 ** Math.max(-MOST_STEPS, Math.min(MOST_STEPS, steps))
}
