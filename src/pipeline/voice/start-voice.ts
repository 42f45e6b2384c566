import { type CallOptions, isWrittenAlready, type StartOutcome } from '../../client/index.js'
import type { RegisteredFile } from '../../contract/index.js'
import { VoxmuxError } from '../../core/errors.js'
import { chargeId, type HeldVoice } from '../../ledger/index.js'
import type { VoiceRequest, VoiceServiceContext } from './voice-service.js'
import { stillProcessed } from './wait-for-voice.js'

/**
 * Result of a start.
 * - `paid-now`: a request of this run has started the file
 * - `paid-before`: a request of an earlier run had started it
 * - `not-there`: the service does not have the file or its bytes, so it must be sent again; nothing is reserved for it
 */
export type StartResult = 'paid-now' | 'paid-before' | 'not-there'

/** Starts the file of a voice at most once, over all runs. The ledger knows of each start before it is requested. */
export class VoiceStart {
  readonly #request: VoiceRequest<unknown>
  readonly #context: VoiceServiceContext
  readonly #held: HeldVoice
  readonly #waitUntilMs: number | undefined

  /** @param waitUntilMs see `VoiceProgress` */
  constructor(
    request: VoiceRequest<unknown>,
    context: VoiceServiceContext,
    held: HeldVoice,
    waitUntilMs: number | undefined,
  ) {
    this.#request = request
    this.#context = context
    this.#held = held
    this.#waitUntilMs = waitUntilMs
  }

  /** @param registered the registration of the file, if it was uploaded in this run */
  async start(fileId: string, registered: RegisteredFile | null): Promise<StartResult> {
    await this.#request.requireInput?.()
    const client = await this.#context.client()
    await this.#reserve(fileId)
    await this.#held.advance({ status: 'starting', paidSec: this.#request.sec })
    try {
      await this.#requireProof(await client.startOnce(fileId, await this.#options(), this.#call()))
      return 'paid-now'
    } catch (error) {
      if (!hasCode(error, 'ERR_START_CONFLICT') && !hasCode(error, 'ERR_START_UNCONFIRMED')) throw error
      this.#leaveFetched(fileId)
      if (registered) await this.#uploadAgain(registered)
      await this.#requireProof(await client.resumeStart(fileId, await this.#options(), this.#call()))
      return 'paid-now'
    }
  }

  /**
   * Continues after a crash in {@link start}. A file that had not been started is reserved again before it is: it counts
   * for the day on which it is paid.
   */
  async resume(fileId: string): Promise<StartResult> {
    const { signal, beforeSend } = this.#call()
    const call: CallOptions = {
      signal,
      beforeSend: async (operation) => {
        await beforeSend?.(operation)
        if (operation !== 'startProcess') return
        await this.#request.requireInput?.()
        await this.#reserve(fileId)
      },
    }
    try {
      const client = await this.#context.client()
      const outcome = await client.resumeStart(fileId, await this.#options(), call)
      await this.#requireProof(outcome)
      return outcome.how === 'started' ? 'paid-now' : 'paid-before'
    } catch (error) {
      // The service never had the file, or has deleted it. No paid output is left to download.
      if (!hasCode(error, 'ERR_NOT_FOUND')) throw error
      await this.#context.spending.release(chargeId(this.#held.voice.key, fileId))
      return 'not-there'
    }
  }

  /** Waits until the status proves a start that only a conflict reported. Until then, nothing is committed. */
  async #requireProof({ how, status, fileId }: StartOutcome): Promise<void> {
    if (how === 'started' || status !== null) return
    this.#leaveFetched(fileId)
    const client = await this.#context.client()
    const proof = await client.provenStart(fileId, { signal: this.#held.signal, untilMs: this.#waitUntilMs })
    if (proof.status === 'Pending') throw stillProcessed(fileId)
  }

  /**
   * Leaves a file that the service fetches itself, after a conflict. The file waits in the queue, or is still being
   * fetched. Another registration could be paid twice, and a later run sees what became of this one.
   *
   * @throws {PendingError} `ERR_STILL_RUNNING` unless the voice was uploaded
   */
  #leaveFetched(fileId: string): void {
    if (this.#request.source.kind === 'address') throw stillProcessed(fileId)
  }

  /**
   * Uploads the voice to the same file id again. A first conflict has two meanings: the bytes are lost, or a proxy
   * sent the request twice and the file waits in the queue. A second conflict can only mean the latter. So does a storage
   * that refuses the link or the bytes: it has confirmed them, and another file would be paid for beside this one.
   */
  async #uploadAgain(registered: RegisteredFile): Promise<void> {
    const { source } = this.#request
    if (source.kind !== 'upload') return
    const client = await this.#context.client()
    const { signal } = this.#held
    try {
      await this.#context.slots.transfers.run(() => client.upload(registered, source.path, { signal }), signal)
    } catch (error) {
      if (!hasCode(error, 'ERR_UPLOAD_LINK_EXPIRED') && !isWrittenAlready(error)) throw error
    }
  }

  #reserve(fileId: string): Promise<void> {
    const { spending, maxSecondsPerDay } = this.#context
    return spending.reserve(chargeId(this.#held.voice.key, fileId), this.#request.sec, { maxSecondsPerDay })
  }

  async #options() {
    const { model, outputType } = this.#request
    const webhooks = await this.#context.webhooks?.()
    return { model, ...(outputType !== null && { output_type: outputType }), ...webhooks }
  }

  /** A computer that was asleep may have lost the voice to another holder, so each request confirms the lease first. */
  #call(): CallOptions {
    return { signal: this.#held.signal, beforeSend: () => this.#held.confirm() }
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof VoxmuxError && error.code === code
}
