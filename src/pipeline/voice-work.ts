import type { TransferProgress } from '../client/index.js'
import { VoxmuxError } from '../core/errors.js'
import { type HeldVoice, requireAllowance, type Voice } from '../jobs/index.js'
import type { RegeneratedVoice, SendHooks, VoiceOrder, VoiceProgress, VoiceServiceContext } from './voice-service.js'
import { stillRunning, waitForVoice } from './wait-for-voice.js'

/** SystemError and TimeOut are tried once more: the interface calls them faults of the moment. */
const WORTH_ANOTHER_TRY = new Set([-1, -12])

/** One voice in hand, driven from the status it was found in to `cached`. */
export class VoiceWork {
  readonly #order: VoiceOrder
  readonly #context: VoiceServiceContext
  readonly #progress: VoiceProgress
  readonly #held: HeldVoice
  readonly #timesMs: Record<string, number> = {}
  #paidSec = 0
  /** Failures of this run: those of earlier runs are the reason why the person runs again. */
  #failures = 0

  constructor(order: VoiceOrder, context: VoiceServiceContext, progress: VoiceProgress, held: HeldVoice) {
    this.#order = order
    this.#context = context
    this.#progress = progress
    this.#held = held
  }

  async toTheEnd(): Promise<RegeneratedVoice> {
    const { answerPath } = this.#order
    for (;;) {
      const { voice } = this.#held
      switch (voice.status) {
        case 'new':
          // Of a ledger that was lost: what the cache still holds was paid for.
          if (await this.#context.cache.take(voice.key, answerPath)) return this.#answer(answerPath, voice)
          await this.#send()
          break
        case 'registering':
        case 'registered':
        case 'failed':
          await this.#send()
          break
        case 'uploaded':
          await this.#start()
          break
        case 'starting':
          await this.#resumeStart(fileIdOf(voice))
          break
        case 'started':
          await this.#wait(fileIdOf(voice))
          break
        case 'succeeded':
          await this.#fetch(fileIdOf(voice))
          break
        case 'cached':
          if (this.#timesMs.downloaded !== undefined) return this.#answer(answerPath, voice)
          if (await this.#context.cache.take(voice.key, answerPath)) return this.#answer(answerPath, voice)
          // The cache was emptied: the service may still have the output, which is paid for.
          await this.#held.advance({ status: 'succeeded' })
          break
        default:
          voice.status satisfies never
      }
    }
  }

  #answer(path: string, voice: Voice): RegeneratedVoice {
    const cached = Object.keys(this.#timesMs).length === 0
    return { path, fileId: voice.fileId, cached, paidSec: this.#paidSec, timesMs: this.#timesMs }
  }

  async #send(): Promise<void> {
    await this.#requireAllowance()
    const client = await this.#context.client()
    await this.#held.advance({ status: 'registering' })
    const { signal } = this.#held
    const hooks: SendHooks = {
      signal,
      onRegistered: async (fileId) => {
        // An expired link is registered anew: that is another attempt, of which nothing is charged yet.
        if (this.#held.voice.status !== 'registering') await this.#held.advance({ status: 'registering' })
        await this.#held.advance({ status: 'registered', fileId })
        this.#mark('registered')
      },
      onPercent: (percent) => this.#tell('upload', percent),
    }
    await this.#context.slots.transfers.run(() => this.#order.send(client, hooks), signal)
    await this.#held.advance({ status: 'uploaded' })
    this.#mark('uploaded')
  }

  /** Asked before the voice is sent: what may not be paid for today need not go over the network today. */
  async #requireAllowance(): Promise<void> {
    const { spending, maxSecondsPerDay } = this.#context
    if (maxSecondsPerDay === null) return
    const { committedSec, reservedSec } = await spending.spent()
    requireAllowance(committedSec + reservedSec, this.#order.sec, maxSecondsPerDay)
  }

  async #start(): Promise<void> {
    const { spending, maxSecondsPerDay } = this.#context
    const client = await this.#context.client()
    const fileId = fileIdOf(this.#held.voice)
    const paidSec = this.#order.sec
    await spending.reserve(fileId, paidSec, { maxSecondsPerDay })
    await this.#held.advance({ status: 'starting', paidSec })
    await client.startOnce(fileId, await this.#startOptions(), { signal: this.#held.signal })
    this.#paidSec += paidSec
    await this.#started(fileId)
  }

  async #resumeStart(fileId: string): Promise<void> {
    try {
      const client = await this.#context.client()
      await client.resumeStart(fileId, await this.#startOptions(), { signal: this.#held.signal })
    } catch (error) {
      // The service never had it, or has it no more: nothing was charged for it that could still be fetched.
      if (!(error instanceof VoxmuxError) || error.code !== 'ERR_NOT_FOUND') throw error
      await this.#context.spending.release(fileId)
      return this.#send()
    }
    await this.#started(fileId)
  }

  async #started(fileId: string): Promise<void> {
    // First what it cost: whoever takes over a file that has started does not ask about that any more.
    await this.#context.spending.commit(fileId)
    await this.#held.advance({ status: 'started' })
    this.#mark('started')
  }

  async #wait(fileId: string): Promise<void> {
    try {
      await waitForVoice(await this.#context.client(), fileId, {
        signal: this.#held.signal,
        onPercent: (percent) => this.#tell('process', percent),
        untilMs: this.#waitUntilMs(fileId),
      })
    } catch (error) {
      if (!(error instanceof VoxmuxError) || error.errorCode === undefined) throw error
      await this.#held.advance({ status: 'failed', errorCode: error.errorCode })
      this.#failures += 1
      if (this.#failures > 1 || !WORTH_ANOTHER_TRY.has(error.errorCode)) throw error
      return
    }
    this.#mark('ended')
    await this.#held.advance({ status: 'succeeded' })
  }

  /** What was submitted just now need not be asked for; see `JobRunOptions.waitUntilMs` for the embedded service. */
  #waitUntilMs(fileId: string): number | undefined {
    const { waitUntilMs } = this.#progress
    const isSubmittedNow = this.#timesMs.started !== undefined
    if (waitUntilMs === undefined || (this.#context.isEmbedded && !isSubmittedNow)) return undefined
    if (isSubmittedNow && Date.now() >= waitUntilMs) throw stillRunning(`at the service, as file id ${fileId}`)
    return waitUntilMs
  }

  async #fetch(fileId: string): Promise<void> {
    const { cache, slots } = this.#context
    const { signal } = this.#held
    const client = await this.#context.client()
    const { answerPath } = this.#order
    const onProgress = ({ transferredBytes, totalBytes }: TransferProgress) =>
      totalBytes !== null && this.#tell('download', (100 * transferredBytes) / totalBytes)
    try {
      await slots.transfers.run(() => client.download(fileId, answerPath, { signal, onProgress }), signal)
    } catch (error) {
      // The service deleted the output after its retention time: the next run has it regenerated anew.
      if (error instanceof VoxmuxError && error.code === 'ERR_NOT_FOUND') {
        await this.#held.advance({ status: 'failed', errorCode: -11 })
      }
      throw error
    }
    const { path } = await cache.put(this.#held.voice.key, answerPath)
    this.#mark('downloaded')
    await this.#held.advance({ status: 'cached', path })
  }

  async #startOptions() {
    const { model, outputType } = this.#order
    const webhooks = await this.#context.webhooks?.()
    return { model, ...(outputType !== null && { output_type: outputType }), ...webhooks }
  }

  #mark(step: string): void {
    this.#timesMs[step] = Date.now()
  }

  #tell(stage: 'upload' | 'process' | 'download', percent: number): void {
    this.#progress.onProgress?.(stage, Math.min(100, percent))
  }
}

function fileIdOf(voice: Voice): string {
  if (voice.fileId === null) throw new Error(`voice ${voice.key} is ${voice.status} without a file id`)
  return voice.fileId
}
