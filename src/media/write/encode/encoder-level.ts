import type { AudioEncoding } from './audio-encoding.js'

/** Factors by which LAME scales its input at a constant bit rate, up to each rate (`presets.c` of LAME 3.100). */
const LAME_SCALES = [
  { upTo: 160_000, scale: 0.95 },
  { upTo: 192_000, scale: 0.97 },
  { upTo: 224_000, scale: 0.98 },
] as const

/**
 * Filters before an encoder that undo its own change of level. LAME makes MP3 up to 0.45 dB quieter, and ffmpeg has no
 * option against it. The samples between filter and encoder are floats, so that nothing clips.
 */
export function levelFilters({ encoder, bitRate }: Pick<AudioEncoding, 'encoder' | 'bitRate'>): readonly string[] {
  if (encoder !== 'libmp3lame' || bitRate === null) return []
  const found = LAME_SCALES.find(({ upTo }) => bitRate <= upTo)
  return found ? [`volume=${1 / found.scale}`] : []
}
