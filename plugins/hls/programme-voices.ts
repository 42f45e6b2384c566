import { soundLag } from '../../src/media/index.js'

/** Regenerates the voice of one WAV into another of the same length. */
export type RegenerateWave = (input: string, output: string) => Promise<void>

/**
 * The voices of the renditions of one programme. Sound at several bit rates is regenerated once, from the first
 * rendition. The others get its voice if they prove to hold the same sound.
 */
export class ProgrammeVoices {
  readonly #regenerate: RegenerateWave
  readonly #signal: AbortSignal | undefined
  /** By the place of the run in its playlist. */
  readonly #made = new Map<number, { readonly group: string | null; readonly wave: string; readonly voice: string }[]>()

  constructor(regenerate: RegenerateWave, signal: AbortSignal | undefined) {
    this.#regenerate = regenerate
    this.#signal = signal
  }

  /**
   * @param group of the rendition
   * @param place of the run: parts of a playlist between discontinuities
   * @param wave the sound; it must stay where it is as long as this is used
   * @param voice path of a voice of its own, if it needs one
   * @returns the voice, and the samples by which it must come later to fit; `isShared` if another encoding of the same
   *   sound was regenerated
   */
  async voiceOf(group: string | null, place: number, wave: string, voice: string) {
    const made = this.#made.get(place) ?? []
    for (const known of made.filter((one) => one.group === null || one.group !== group)) {
      const lag = await soundLag(known.wave, wave, { signal: this.#signal })
      if (lag !== null) return { path: known.voice, delaySamples: lag, isShared: true }
    }
    await this.#regenerate(wave, voice)
    this.#made.set(place, [...made, { group, wave, voice }])
    return { path: voice, delaySamples: 0, isShared: false }
  }
}
