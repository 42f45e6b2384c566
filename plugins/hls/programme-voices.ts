import { soundLag } from '../../src/media/index.js'

/** Regenerates the voice of one WAV into another of the same length. */
export type RegenerateWave = (input: string, output: string) => Promise<void>

/**
 * Regenerates the renditions of one programme. Sound at several bit rates is regenerated once, from the first
 * rendition. The others get its voice if they prove to hold the same sound.
 */
export function programmeVoices(regenerate: RegenerateWave, signal: AbortSignal | undefined) {
  /** By the place of the run in its playlist. */
  const made = new Map<number, { readonly group: string | null; readonly wave: string; readonly voice: string }[]>()
  /**
   * @param group of the rendition
   * @param place of the run: parts of a playlist between discontinuities
   * @param wave the sound; it must stay where it is as long as this is used
   * @param voice path of a voice of its own, if it needs one
   * @returns the voice, and the samples by which it must come later to fit; `isShared` if another encoding of the same
   *   sound was regenerated
   */
  return async (group: string | null, place: number, wave: string, voice: string) => {
    const known = made.get(place) ?? []
    for (const other of known.filter((one) => one.group === null || one.group !== group)) {
      const lag = await soundLag(other.wave, wave, { signal })
      if (lag !== null) return { path: other.voice, delaySamples: lag, isShared: true }
    }
    await regenerate(wave, voice)
    made.set(place, [...known, { group, wave, voice }])
    return { path: voice, delaySamples: 0, isShared: false }
  }
}
