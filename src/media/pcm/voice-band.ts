/** Means over this many samples pass the band of a voice and stop what lossy codecs leave out: they are zero at 6 kHz. */
export function voiceBandSamples(sampleRate: number): number {
  return Math.max(1, Math.round(sampleRate / 6000))
}

/** Sliding means of a sound over {@link voiceBandSamples}; as many fewer than its samples. */
export function voiceBand(sound: Float64Array, sampleRate: number): Float64Array {
  const length = voiceBandSamples(sampleRate)
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
