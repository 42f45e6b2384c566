import type { Comparison, Side } from './comparison.js'

const TYPES = { audio: 'audio/mp4', waveform: 'image/png', spectrogram: 'image/png' } as const

/** Pattern of the address of a file of a comparison, for `fileOf`. */
export const COMPARISON_FILE = String.raw`(?<index>\d{1,3})/(?<side>before|after)/(?<kind>audio|waveform|spectrogram)`

/** A comparison with something else in place of each file. */
export function withFiles(
  comparison: Comparison,
  change: (file: string, side: 'before' | 'after', kind: keyof Side) => string,
): Comparison {
  const sideOf = (side: 'before' | 'after') => ({
    audio: change(comparison[side].audio, side, 'audio'),
    waveform: change(comparison[side].waveform, side, 'waveform'),
    spectrogram: change(comparison[side].spectrogram, side, 'spectrogram'),
  })
  return { ...comparison, before: sideOf('before'), after: sideOf('after') }
}

/** The file that an address of {@link COMPARISON_FILE} names; undefined if the comparison has fewer tracks. */
export function fileOf(
  comparisons: readonly Comparison[],
  { index, side, kind }: Readonly<Record<string, string>>,
): { readonly path: string; readonly type: string } | undefined {
  const track = comparisons[Number(index)]
  const own = kind as keyof typeof TYPES
  return track && { path: (side === 'before' ? track.before : track.after)[own], type: TYPES[own] }
}
