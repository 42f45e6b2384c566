import { type Block, cutBlocks, SAMPLE_RATE } from './block-plan.js'
import type { DetectOptions } from './detect-voice.js'
import type { JudgedBlock } from './engine.js'
import { inOrder } from './in-order.js'
import type { VoiceSound } from './regenerate.js'
import { FRAME_SAMPLES } from './rnnoise.js'
import { VoiceTally } from './voice-tally.js'

/** Voice and noise of a sound, second by second. The last second may be incomplete. */
export interface VoiceMap {
  /** Seconds with a voice, as `detectVoice` counts them. */
  readonly voicedSec: number
  /** Mean probability of voice, 0 … 1. */
  readonly voice: readonly number[]
  /** Highest strength at which the engine would regenerate the second: 0 is clean, 1 is noisy. */
  readonly noise: readonly number[]
  /** How surely music plays under the voice: 0 is not, 1 is surely. */
  readonly music: readonly number[]
}

const FRAMES_PER_SEC = SAMPLE_RATE / FRAME_SAMPLES

/** Maps the voice and the noise of a sound, without changing it. Errors as {@link VoicePool.judge}. */
export async function mapVoice(
  input: VoiceSound,
  { pool, signal }: Pick<DetectOptions, 'pool' | 'signal'>,
): Promise<VoiceMap> {
  const seconds = new Seconds()
  const blocks = cutBlocks(input.buffers, input.channelCount, pool.plan)
  const judge = (block: Block, stop: AbortSignal) => pool.judge(block, { signal: stop })
  for await (const judged of inOrder(blocks, judge, { atOnce: pool.size, signal })) seconds.add(judged)
  const rounded = (values: readonly number[]) => values.map((value) => Math.round(1000 * value) / 1000)
  const { voicedSec, voice, noise, music } = seconds
  return { voicedSec, voice: rounded(voice), noise: rounded(noise), music: rounded(music) }
}

/** Gathers frames of 10 ms into seconds. */
class Seconds {
  readonly voice: number[] = []
  readonly noise: number[] = []
  readonly music: number[] = []
  readonly #tally = new VoiceTally()
  #frames = 0

  get voicedSec(): number {
    return this.#tally.amount.voicedSec
  }

  add({ strength, bed, probability }: JudgedBlock): void {
    this.#tally.add(probability ?? [])
    for (const [frame, value] of strength.entries()) {
      const second = Math.floor(this.#frames / FRAMES_PER_SEC)
      const before = this.#frames % FRAMES_PER_SEC
      const mean = this.voice[second] ?? 0
      this.voice[second] = mean + ((probability?.[frame] ?? 0) - mean) / (before + 1)
      this.noise[second] = Math.max(this.noise[second] ?? 0, value)
      this.music[second] = Math.max(this.music[second] ?? 0, bed[frame] ?? 0)
      this.#frames++
    }
  }
}
