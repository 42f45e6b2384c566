import type { Block, BlockPlan } from './block-plan.js'
import type { OnShare } from './share.js'

/** Result of an engine for a block: the block alone, without its context. */
export interface RegeneratedBlock {
  /** As many samples as the block has, in the block's place; one array a channel. */
  readonly channels: readonly Float32Array<ArrayBuffer>[]
  /** Probability of voice (0 … 1) of each 10 ms of the block; null if the engine has no voice detector. */
  readonly probability: Float32Array<ArrayBuffer> | null
}

/** How much a block needs regeneration, found without changing it. */
export interface JudgedBlock {
  /** Strength of the regeneration (0: left alone … 1: full) of each 10 ms of the block, in the channel that needs most. */
  readonly strength: Float32Array<ArrayBuffer>
  /** How surely music plays under the voice (0 … 1) of each 10 ms of the block. */
  readonly bed: Float32Array<ArrayBuffer>
  /** As in {@link RegeneratedBlock}. */
  readonly probability: Float32Array<ArrayBuffer> | null
}

/**
 * A voice model, as a worker thread runs it: 48 kHz, full scale ±1.
 * The result depends on the block alone: an engine keeps nothing from one block to the next.
 */
export interface VoiceEngine {
  readonly plan: BlockPlan
  /** @param onShare told about once per second of sound, as far as the models allow it */
  regenerate(block: Block, onShare?: OnShare): Promise<RegeneratedBlock>
  /** Computes the difference that lowers music under a voice: exactly 0 without music. */
  lowerBed(block: Block): Promise<RegeneratedBlock>
  judge(block: Block): Promise<JudgedBlock>
  /** Probability of voice of each 10 ms of the block, as {@link regenerate} measures it; null as above. */
  detect(block: Block): Promise<Float32Array<ArrayBuffer> | null>
}
