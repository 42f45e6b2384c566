/** Means over this many samples pass the band of a voice and stop what lossy codecs leave out: they are zero at 6 kHz. */
export function voiceBandSamples(sampleRate: number): number {
  return Math.max(1, Math.round(sampleRate / 6000))
}

/** Sliding means of a sound over {@link voiceBandSamples}; as many fewer than its samples. */
export function voiceBand(sound: Float64Array, sampleRate: number): Float64Array {
  return slidingMeans(sound, voiceBandSamples(sampleRate))
}

/** Means over this time are zero at 50 Hz, and follow what is slower than a sound: an offset, wind, a moved microphone. */
const RUMBLE_SEC = 0.02
/** Each pass takes 10 to 20 dB more of it. */
const RUMBLE_PASSES = 3

/** A sound without what is slower than about 30 Hz, and without 30 ms at each end. */
export function withoutRumble(sound: Float64Array, sampleRate: number): Float64Array {
  const reach = Math.round((RUMBLE_SEC / 2) * sampleRate)
  let rest = sound
  for (let pass = 0; pass < RUMBLE_PASSES; pass++) rest = withoutMeans(rest, reach)
  return rest
}

/** Subtracts from each sample the mean of it and as many samples before as after it. */
function withoutMeans(sound: Float64Array, reach: number): Float64Array {
  return slidingMeans(sound, 2 * reach + 1).map((mean, first) => (sound[first + reach] as number) - mean)
}

function slidingMeans(sound: Float64Array, length: number): Float64Array {
  const means = new Float64Array(Math.max(0, sound.length - length + 1))
  let sum = 0
  for (let at = 0; at < sound.length; at++) {
    sum += sound[at] as number
    if (at < length - 1) continue
    means[at - length + 1] = sum / length
    sum -= sound[at - length + 1] as number
  }
  return means
}
