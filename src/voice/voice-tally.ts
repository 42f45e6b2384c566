import { SAMPLE_RATE } from './block-plan.js'
import { FRAME_SAMPLES } from './rnnoise.js'

const FRAME_SEC = FRAME_SAMPLES / SAMPLE_RATE
/** From this on a frame counts as voiced. */
const VOICED = 0.6
/** Single frames are clicks; a syllable has at least this many together. */
const SHORTEST_FRAMES = 8

/** How much voice was found. */
export interface VoiceAmount {
  readonly durationSec: number
  readonly voicedSec: number
}

/** Adds up what the model thinks of the voice, 10 ms by 10 ms. */
export class VoiceTally {
  #frames = 0
  #voiced = 0
  #run = 0

  /** @param probability of each 10 ms, going on where the last call ended */
  add(probability: Iterable<number>): void {
    for (const value of probability) {
      this.#frames++
      this.#run = value >= VOICED ? this.#run + 1 : 0
      if (this.#run === SHORTEST_FRAMES) this.#voiced += SHORTEST_FRAMES
      else if (this.#run > SHORTEST_FRAMES) this.#voiced++
    }
  }

  get amount(): VoiceAmount {
    return { durationSec: this.#frames * FRAME_SEC, voicedSec: this.#voiced * FRAME_SEC }
  }
}
