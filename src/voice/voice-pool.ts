import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { throwIfAborted } from '../core/abort.js'
import { InterruptedError, JobFailedError, UsageError } from '../core/errors.js'
import type { Block, BlockPlan } from './block-plan.js'
import { EMBEDDED_PLAN } from './embedded-engine.js'
import type { JudgedBlock, RegeneratedBlock } from './engine.js'
import { type EngineSpec, type EngineSpecInput, engineSpec } from './engine-spec.js'
import type { OnShare } from './share.js'
import { VoiceThread } from './voice-thread.js'
import type { WorkerAnswer, WorkerRequest } from './worker-messages.js'

export interface VoicePoolOptions {
  readonly engine?: EngineSpecInput
  /** Worker threads; default: one a core. */
  readonly workers?: number
  /** How long one block may take before its worker is ended and the block fails with -12. Default 10 minutes. */
  readonly blockTimeoutMs?: number
}

interface BlockOptions {
  readonly signal?: AbortSignal | undefined
  /** Told while the block is regenerated. */
  readonly onShare?: OnShare | undefined
}

/**
 * Worker threads that run a voice engine. Threads start when they are first needed. One that crashes or hangs is
 * replaced at the next block. An idle pool never keeps the process alive. {@link close} ends them all.
 */
export class VoicePool {
  readonly spec: EngineSpec
  /** One for every model: its context is also long enough for the states of a model of the operator's own to settle. */
  readonly plan: BlockPlan = EMBEDDED_PLAN
  readonly size: number
  readonly #blockTimeoutMs: number
  readonly #queue: PQueue
  readonly #idle: VoiceThread[] = []
  readonly #busy = new Set<VoiceThread>()
  #closed = false

  constructor(options: VoicePoolOptions = {}) {
    this.spec = engineSpec.parse(options.engine ?? { kind: 'embedded' })
    this.size = Math.max(1, Math.floor(options.workers ?? availableParallelism()))
    this.#blockTimeoutMs = options.blockTimeoutMs ?? 600_000
    this.#queue = new PQueue({ concurrency: this.size })
  }

  /**
   * The difference that regeneration adds to the block: exactly 0 if it leaves it alone. The block's samples are handed
   * over to the worker and gone for the caller.
   *
   * @throws JobFailedError ERR_VOICE_CRASHED (-1), ERR_VOICE_TIMEOUT (-12), ERR_VOICE_MODEL (-1)
   * @throws InterruptedError when the signal fires
   */
  async correct(block: Block, options: BlockOptions): Promise<RegeneratedBlock> {
    return this.#ask({ task: 'correct', block }, options)
  }

  /** The difference that lowers music under a voice: exactly 0 without music. Errors as {@link correct}. */
  async lowerBed(block: Block, options: BlockOptions): Promise<RegeneratedBlock> {
    return this.#ask({ task: 'lower-bed', block }, options)
  }

  /** How much the block needs regeneration; errors as {@link correct}. */
  async judge(block: Block, options: BlockOptions): Promise<JudgedBlock> {
    const { channels, probability } = await this.#ask({ task: 'judge', block }, options)
    const [strength = new Float32Array(0), bed = strength] = channels
    return { strength, bed, probability }
  }

  /** Probability of voice of each 10 ms of the block; errors as {@link correct}; null: the engine cannot tell. */
  async detect(block: Block, options: BlockOptions): Promise<Float32Array | null> {
    return (await this.#ask({ task: 'detect', block }, options)).probability
  }

  /** Ends every thread; what is in work or waits fails with InterruptedError. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((thread) => thread.end()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #ask(request: WorkerRequest, options: BlockOptions): Promise<WorkerAnswer & { ok: true }> {
    const answer = await this.#queue.add(() => this.#work(request, options))
    if (answer.ok) return answer
    const remedies = answer.remedies
    if (answer.code) throw new UsageError(answer.code, answer.message, { remedies })
    throw new JobFailedError('ERR_VOICE_MODEL', `The voice model failed: ${answer.message}`, {
      errorCode: -1,
      errorName: 'SystemError',
      remedies,
    })
  }

  async #work(request: WorkerRequest, { signal, onShare }: BlockOptions): Promise<WorkerAnswer> {
    if (this.#closed) throw new InterruptedError('The voice engine was closed.')
    throwIfAborted(signal)
    const thread = this.#idle.pop() ?? new VoiceThread(this.spec)
    this.#busy.add(thread)
    try {
      return await thread.ask(request, { timeoutMs: this.#blockTimeoutMs, signal, onShare })
    } finally {
      this.#busy.delete(thread)
      if (thread.isAlive && !this.#closed) this.#idle.push(thread)
    }
  }
}
