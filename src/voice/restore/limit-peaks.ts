/** Reach of the gain's dip to both sides of a peak: 5 ms at 48 kHz. */
const REACH_SAMPLES = 240

/** Full scale, less what conversion to integers may add. */
const CEILING = 0.9995

/**
 * Keeps changed sound from clipping: removing a part of the spectrum can raise a peak. If a channel would exceed full
 * scale (or its own loudest sample, if that is higher), all channels dip together, smoothly, around the peak. Nothing
 * else changes by a bit. In place.
 */
export function limitPeaks(channels: readonly Float32Array[], original: readonly Float32Array[]): void {
  const length = channels[0]?.length ?? 0
  let gain: Float32Array | undefined
  for (const [c, channel] of channels.entries()) {
    const ceiling = ceilingOf(original[c])
    for (let i = 0; i < length; i++) {
      const peak = Math.abs(channel[i] ?? 0)
      if (peak <= ceiling) continue
      gain ??= new Float32Array(length).fill(1)
      dip(gain, i, ceiling / peak)
    }
  }
  if (!gain) return
  for (const channel of channels) for (let i = 0; i < length; i++) channel[i] = (channel[i] ?? 0) * (gain[i] ?? 1)
}

/** Sound in floats may lie above full scale, and is not to be limited for it. */
function ceilingOf(original: Float32Array | undefined): number {
  let loudest = CEILING
  for (const value of original ?? []) loudest = Math.max(loudest, Math.abs(value))
  return loudest
}

/** A raised cosine of the depth needed, centred on the peak; overlapping dips take the deeper. */
function dip(gain: Float32Array, centre: number, depth: number): void {
  const from = Math.max(0, centre - REACH_SAMPLES)
  const to = Math.min(gain.length - 1, centre + REACH_SAMPLES)
  for (let i = from; i <= to; i++) {
    const weight = 0.5 + 0.5 * Math.cos((Math.PI * (i - centre)) / REACH_SAMPLES)
    gain[i] = Math.min(gain[i] ?? 1, 1 - (1 - depth) * weight)
  }
}
