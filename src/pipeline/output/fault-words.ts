import type { VoiceRecord } from './receipt.js'

/** A smaller fall than this is within what the measurement may be wrong by. */
const LEAST_FALL_DB = 1

/** Says which faults were found in the voice and what became of them, one sentence each, for people. */
export function faultWords(voices: readonly VoiceRecord[]): readonly string[] {
  const hum = loudest(voices.flatMap(({ hum }) => hum ?? []))
  const [clipping] = voices.flatMap(({ clipping }) => clipping ?? []).sort((one, other) => other.share - one.share)
  const words: string[] = []
  if (hum) {
    const rest =
      hum.fallDb < LEAST_FALL_DB ? 'still there in the output' : `${hum.fallDb.toFixed(0)} dB lower in the output`
    words.push(`mains hum of ${hum.frequencyHz.toFixed(1)} Hz at ${hum.levelDb.toFixed(0)} dBFS, ${rest}`)
  }
  if (clipping)
    words.push(
      `clipped peaks in ${percent(clipping.share)} of the samples, ${percent(clipping.shareLeft)} in the output`,
    )
  const reverberation = loudest(voices.flatMap(({ reverberation }) => reverberation ?? []))
  if (reverberation)
    words.push(
      `reverberation at ${reverberation.levelDb.toFixed(0)} dB relative to the voice, ${reverberation.levelLeftDb.toFixed(0)} dB in the output`,
    )
  return words
}

/** The one with the highest level; undefined if there is none. */
export function loudest<T extends { readonly levelDb: number }>(faults: readonly T[]): T | undefined {
  return faults.toSorted((one, other) => other.levelDb - one.levelDb)[0]
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`
}
