/** Reason why the output lacks a tag about the level of the old sound. */
export const OLD_LEVEL = 'states how loud the old sound was'

/**
 * ReplayGain, its form for Opus, mp3gain with the steps to undo it, and Apple's Sound Check. The level of an album is that
 * of many files. Without it, a player would play this file louder or softer than the others.
 */
const LEVEL = /^(replaygain_(?!album_|reference_|algorithm)\w+|r128_(?!album_)\w+|mp3gain_\w+|itunnorm)$/i

/** Numbers that FLV states about its own bytes, and that ffmpeg reads as tags. */
const OLD_BYTES = /^(audiosize|lastkeyframelocation)$/i

/** The reason if a tag of this name is wrong for new sound; null for any other. */
export function staleReason(name: string): string | null {
  if (LEVEL.test(name)) return OLD_LEVEL
  if (OLD_BYTES.test(name)) return 'states a size or a place in the old file'
  return /^itunsmpb$/i.test(name) ? 'states the priming of the old sound' : null
}
