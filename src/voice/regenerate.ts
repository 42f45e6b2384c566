import { LOWER_REACH_SEC } from './bed/lower-bed.js'
import { type Block, type BlockPlan, cutBlocks, SAMPLE_RATE } from './block-plan.js'
import type { RegeneratedBlock } from './engine.js'
import { inOrder } from './in-order.js'
import type { OnShare } from './share.js'
import type { VoicePool } from './voice-pool.js'
import type { VoiceTally } from './voice-tally.js'

/** Sound as the voice room takes and gives it: 48 kHz, interleaved 32-bit floats, little-endian. */
export interface VoiceSound {
  readonly channelCount: number
  readonly buffers: AsyncIterable<Uint8Array>
}

export interface RegenerateOptions {
  readonly pool: VoicePool
  readonly signal?: AbortSignal | undefined
  /** Called about once per second of sound with how much is done, in all blocks together. Never falls. */
  readonly onProgressSec?: ((doneSec: number) => void) | undefined
  /** Told what the model thinks of the voice as the blocks are done; pass the same to read it afterwards. */
  readonly tally?: VoiceTally | undefined
}

/**
 * The difference that regeneration adds to each sample of the input: exactly 0 if it leaves it alone. Added to the input
 * at its own rate and width, it keeps what 48 kHz and 32-bit floats cannot carry. The sum may exceed full scale if the
 * input does.
 *
 * Blocks are processed in parallel, as many as the pool has workers, and returned in order; memory does not grow with
 * the input. The result is the same, bit for bit, whatever the number of workers.
 */
export async function* correct(input: VoiceSound, options: RegenerateOptions): AsyncGenerator<Buffer> {
  yield* workThrough(input, options, (block, working) => options.pool.correct(block, working))
}

/**
 * The difference that lowers music under a voice by {@link BED_LOWER_DB}, for each sample of the input: exactly 0 without
 * music. The music falls as far under speech as in the pauses.
 */
export async function* lowerBeds(input: VoiceSound, options: RegenerateOptions): AsyncGenerator<Buffer> {
  const { pool } = options
  const reach = Math.round(LOWER_REACH_SEC * SAMPLE_RATE)
  const { blockSamples, beforeSamples, afterSamples } = pool.plan
  const plan = { blockSamples, beforeSamples: beforeSamples + reach, afterSamples: afterSamples + reach }
  yield* workThrough(input, options, (block, working) => pool.lowerBed(block, working), plan)
}

async function* workThrough(
  input: VoiceSound,
  options: RegenerateOptions,
  work: (block: Block, working: { signal: AbortSignal; onShare: OnShare }) => Promise<RegeneratedBlock>,
  plan: BlockPlan = options.pool.plan,
): AsyncGenerator<Buffer> {
  const { pool, tally, signal } = options
  const blocks = cutBlocks(input.buffers, input.channelCount, plan)
  const shareOf = progressOfAll(options.onProgressSec)
  const measured = async (block: Block, signal: AbortSignal) => {
    const onShare = shareOf(block)
    const result = await work(block, { signal, onShare })
    onShare(1)
    return result
  }
  for await (const block of inOrder(blocks, measured, { atOnce: pool.size, signal })) {
    if (block.probability) tally?.add(block.probability)
    yield interleave(block.channels)
  }
}

/** Adds up what is done of all blocks, of which several are in work. @returns makes the listener of one block */
function progressOfAll(onProgressSec: RegenerateOptions['onProgressSec']) {
  let doneSamples = 0
  return ({ innerStart, innerEnd }: Block): OnShare => {
    let before = 0
    return (share) => {
      // Whole samples, so that the last report is exactly the whole sound.
      const done = Math.round(share * (innerEnd - innerStart))
      doneSamples += done - before
      before = done
      onProgressSec?.(doneSamples / SAMPLE_RATE)
    }
  }
}

function interleave(channels: readonly Float32Array[]): Buffer {
  const length = channels[0]?.length ?? 0
  const samples = new Float32Array(length * channels.length)
  for (const [c, channel] of channels.entries()) {
    for (let i = 0; i < length; i++) samples[i * channels.length + c] = channel[i] ?? 0
  }
  return Buffer.from(samples.buffer)
}
