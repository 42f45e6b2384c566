import type { ErrorCode } from '../core/errors.js'
import type { Block } from './block-plan.js'
import type { RegeneratedBlock } from './engine.js'

/** A request from the pool to a worker. */
export interface WorkerRequest {
  /** `correct` and `lower-bed`: what regeneration, or a lower bed, would add to the input. */
  readonly task: 'correct' | 'lower-bed' | 'judge' | 'detect'
  readonly block: Block
}

/** A worker's response, one per request. `channels` is empty for `detect`; for `judge` it is the strength and the bed. */
export type WorkerAnswer =
  | ({ readonly ok: true } & RegeneratedBlock)
  | {
      readonly ok: false
      readonly code: ErrorCode | null
      readonly message: string
      readonly remedies: readonly string[]
    }

/** Sent any number of times before the response to `correct`: how much of the block is done, 0 … 1. */
export interface WorkerProgress {
  readonly share: number
}
