import { SAMPLE_RATE } from './block-plan.js'
import { decimate } from './resample-by-factor.js'
import { findClipping } from './restore/clipping.js'
import { findHum } from './restore/hum.js'
import { REVERBERATION_RATE } from './reverberation/find-reverberation.js'
import { EVIDENCE_BINS, reverberationEvidence, reverberationLevel } from './reverberation/reverberation-evidence.js'
import { shortSpectra } from './reverberation/short-spectra.js'

/** Faults of a sound, and how much of each is left after regeneration. */
export interface FaultFigures {
  /** The hum of the mains: its fundamental, its level in dBFS, and by how many dB it fell. Null if there was none. */
  readonly hum: { readonly frequencyHz: number; readonly levelDb: number; readonly fallDb: number } | null
  /** The share of the samples in flat peaks, before and after: 0 to 1. Null if there was none. */
  readonly clipping: { readonly share: number; readonly shareLeft: number } | null
  /** Late reverberation relative to the voice in dB, before and after. Null if there was none. */
  readonly reverberation: { readonly levelDb: number; readonly levelLeftDb: number } | null
}

/** A hum that is less than this part of what it was cannot be told from the voice over it. */
const LEAST_REST = 10 ** (-60 / 20)

/** The bins lie below 4 kHz, and their aliases above 12 kHz, so that a short filter tells them apart. */
const CROSSINGS = 6

/** A room counts if there is more evidence for it than against it. */
const LEAST_EVIDENCE = 0.5

/**
 * Finds hum, clipping and reverberation in a channel, and measures how much of each is left in the regenerated one. Both are of one
 * length and in place, full scale 1.
 */
export function compareFaults(before: Float32Array, after: Float32Array, sampleRate: number): FaultFigures {
  const [wide, wideAfter] = [atVoiceRate(before, sampleRate), atVoiceRate(after, sampleRate)]
  const found = findHum(wide)
  const clipping = findClipping(before)
  return {
    hum: found
      ? {
          frequencyHz: found.frequencyHz,
          levelDb: 10 * Math.log10(found.power),
          fallDb: -20 * Math.log10(Math.max(LEAST_REST, shareOf(found.samples, wideAfter))),
        }
      : null,
    clipping: clipping ? { share: clipping.share, shareLeft: findClipping(after)?.share ?? 0 } : null,
    reverberation: compareReverberation(wide, wideAfter),
  }
}

function compareReverberation(before: Float32Array, after: Float32Array): FaultFigures['reverberation'] {
  const factor = SAMPLE_RATE / REVERBERATION_RATE
  const spectra = (wide: Float32Array) => shortSpectra(decimate(wide, factor, CROSSINGS), EVIDENCE_BINS)
  const rows = spectra(before)
  if (reverberationEvidence(rows) < LEAST_EVIDENCE) return null
  return { levelDb: reverberationLevel(rows), levelLeftDb: reverberationLevel(spectra(after)) }
}

/** How much of a known sound is in another one, as a factor of its amplitude. */
function shareOf(known: Float32Array, sound: Float32Array): number {
  let [cross, power] = [0, 0]
  for (let i = 0; i < known.length; i++) {
    const value = known[i] ?? 0
    cross += value * (sound[i] ?? 0)
    power += value * value
  }
  return Math.abs(cross / power)
}

/** Straight lines between samples are near enough for hum, which lies far below half of every rate. */
function atVoiceRate(samples: Float32Array, sampleRate: number): Float32Array {
  if (sampleRate === SAMPLE_RATE) return samples
  // `Float32Array.from` takes ten times as long.
  const wide = new Float32Array(Math.floor((samples.length * SAMPLE_RATE) / sampleRate))
  for (let i = 0; i < wide.length; i++) {
    const at = (i * sampleRate) / SAMPLE_RATE
    const index = Math.floor(at)
    const value = samples[index] ?? 0
    wide[i] = value + (at - index) * ((samples[index + 1] ?? value) - value)
  }
  return wide
}
