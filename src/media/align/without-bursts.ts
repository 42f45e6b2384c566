import type { Stretch } from './align-places.js'
import { removeRumble } from './align-signals.js'

/** A clap or a bump with its echo is shorter. A word that was removed must not pass for one. */
const LONGEST_BURST_SEC = 0.3
/** Every so many samples are enough to find a level. */
const STEP = 16

/**
 * Clips the loudest 0.3 s of both signals to the level of the rest. A clap has more power than all words around it, so a
 * voice without it seems to be another one. Overwrites the stretch's audio.
 */
export function withoutBursts(stretch: Stretch): Stretch {
  for (const signal of [stretch.cut, stretch.regenerated]) {
    removeRumble(signal, stretch.sampleRate)
    const most = levelBelowBursts(signal, stretch.sampleRate)
    for (let index = 0; index < signal.length; index++) {
      signal[index] = Math.max(-most, Math.min(most, signal[index] as number))
    }
  }
  return stretch
}

function levelBelowBursts(signal: Float64Array, sampleRate: number): number {
  const levels = new Float64Array(Math.ceil(signal.length / STEP))
  for (let place = 0; place < levels.length; place++) levels[place] = Math.abs(signal[place * STEP] as number)
  const louder = Math.ceil((LONGEST_BURST_SEC * sampleRate) / STEP)
  return levels.sort()[Math.max(0, levels.length - 1 - louder)] ?? 0
}
