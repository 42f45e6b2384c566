import type { Comparison } from './comparison.js'

const TYPES = { audio: 'audio/mp4', waveform: 'image/png', spectrogram: 'image/png' } as const

/** Pattern of the address of a file of a comparison, for `fileOf`. */
export const COMPARISON_FILE = String.raw`(?<index>\d{1,3})/(?<side>before|after)/(?<kind>audio|waveform|spectrogram)`

/** Comparisons with the addresses of their files instead of the paths. */
export function addressed(comparisons: readonly Comparison[], base: string): readonly Comparison[] {
  const side = (index: number, name: string) => {
    const of = (kind: keyof typeof TYPES) => `${base}/${index}/${name}/${kind}`
    return { audio: of('audio'), waveform: of('waveform'), spectrogram: of('spectrogram') }
  }
  return comparisons.map((one, index) => ({ ...one, before: side(index, 'before'), after: side(index, 'after') }))
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
