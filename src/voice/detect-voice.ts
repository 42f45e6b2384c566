import { throwIfAborted } from '../core/abort.js'
import { cutBlocks, SAMPLE_RATE } from './block-plan.js'
import type { VoiceSound } from './regenerate.js'
import type { VoicePool } from './voice-pool.js'
import { type VoiceAmount, VoiceTally } from './voice-tally.js'

export interface DetectOptions {
  readonly pool: VoicePool
  readonly signal?: AbortSignal | undefined
  /** Ends as soon as so much voice has been found: enough to know that there is some. */
  readonly enoughSec: number
}

/** Much shorter than an engine's block, because most files have enough voice in their first seconds. */
const BLOCK_SAMPLES = 10 * SAMPLE_RATE

/**
 * How much voice there is in a sound. A detector can be wrong: music with singing counts as voice, a whisper may not.
 * Null if the pool's engine has no detector. Errors as {@link VoicePool.detect}.
 */
export async function detectVoice(input: VoiceSound, options: DetectOptions): Promise<VoiceAmount | null> {
  const { pool, signal, enoughSec } = options
  const tally = new VoiceTally()
  const plan = { ...pool.plan, blockSamples: BLOCK_SAMPLES, afterSamples: 0 }
  for await (const block of cutBlocks(input.buffers, input.channelCount, plan)) {
    throwIfAborted(signal)
    const probability = await pool.detect(block, { signal })
    if (!probability) return null
    tally.add(probability)
    if (tally.amount.voicedSec >= enoughSec) break
  }
  return tally.amount
}
