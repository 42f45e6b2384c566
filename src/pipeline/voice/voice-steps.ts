import { rm, stat } from 'node:fs/promises'
import type { TransferProgress } from '../../client/index.js'
import type { RegisteredFile } from '../../contract/index.js'
import { VerificationError, VoxmuxError } from '../../core/errors.js'
import { chargeId, type HeldVoice, requireAllowance, USELESS_AUDIO, type Voice } from '../../ledger/index.js'
import { deletedOutput, statusOfGivenUp } from './given-up-file.js'
import { type StartResult, VoiceStart } from './start-voice.js'
import { damagedDownloads, requireDecoder, unusableTwice } from './useless-audio.js'
import { VoiceRetries } from './voice-retries.js'
import type { RegeneratedVoice, VoiceProgress, VoiceRequest, VoiceServiceContext } from './voice-service.js'
import { stillProcessed, waitForVoice } from './wait-for-voice.js'

/**
 * Audio that is decodable but does not fit the voice. Another process would return the same, so nothing is paid again.
 * It stays in the cache: a later run judges it again, perhaps with a newer version.
 */
const KEPT: ReadonlySet<string> = new Set(['ERR_ALIGNMENT', 'ERR_ALIGNMENT_DRIFT', 'ERR_ANSWER_CHANNELS'])

/** The service's NotEnoughCredits. */
const NOT_ENOUGH_CREDITS = -10

/** The steps that take a voice from one status to the next. `regenerateVoice` chooses among them. */
export class VoiceSteps<Judged> {
  readonly #request: VoiceRequest<Judged>
  readonly #context: VoiceServiceContext
  readonly #progress: VoiceProgress
  readonly #held: HeldVoice
  readonly #timesMs: Record<string, number> = {}
  #paidSec = 0
  readonly #retries = new VoiceRetries()
  readonly #starts: VoiceStart
  /** The registration of this run, whose link accepts the bytes again. */
  #registration: RegisteredFile | undefined
  #judged: { readonly value: Judged } | undefined
  readonly #notes: string[] = []

  constructor(request: VoiceRequest<Judged>, context: VoiceServiceContext, progress: VoiceProgress, held: HeldVoice) {
    this.#request = request
    this.#context = context
    this.#progress = progress
    this.#held = held
    this.#starts = new VoiceStart(request, context, held, progress.waitUntilMs)
  }

  /** True if this run downloaded the regenerated audio. */
  get isDownloaded(): boolean {
    return this.#timesMs.downloaded !== undefined
  }

  result(): RegeneratedVoice<Judged> {
    if (this.#judged === undefined) throw new Error('regenerated audio was not judged')
    const { voice } = this.#held
    return {
      ...{ path: this.#request.audioPath, judged: this.#judged.value, notes: this.#notes, fileId: voice.fileId },
      ...{ cached: Object.keys(this.#timesMs).length === 0, paidSec: this.#paidSec, timesMs: this.#timesMs },
    }
  }

  /** Takes the voice from the cache. Removes it from there if it is unusable, unless it is {@link KEPT}. */
  async takeCached(): Promise<boolean> {
    const { cache } = this.#context
    const { audioPath } = this.#request
    if (!(await cache.take(this.#held.voice.key, audioPath))) return false
    try {
      await this.#judge()
      return true
    } catch (error) {
      if (!(error instanceof VerificationError) || KEPT.has(error.code)) throw error
      this.#note(`The cached audio is unusable (${error.message}) It is downloaded again, at no cost.`)
      await this.#discard()
      return false
    }
  }

  async #judge(): Promise<void> {
    const { signal } = this.#held
    this.#judged = { value: await this.#request.judge(this.#request.audioPath, signal) }
  }

  async #discard(): Promise<void> {
    await rm(this.#request.audioPath, { force: true })
    await this.#context.cache.forget(this.#held.voice.key)
  }

  #note(words: string): void {
    this.#notes.push(words)
    this.#context.logger.warn({ voice: this.#held.voice.key }, words)
  }

  /**
   * Goes on with the file of an earlier attempt if the service has started it, and sends the voice again otherwise. A
   * ledger from a back-up knows a file as it was before its start.
   */
  async sendAgain(): Promise<void> {
    const { voice, signal } = this.#held
    const { client, spending } = this.#context
    const status = await statusOfGivenUp(voice, await client(), signal)
    if (status === null) return this.send()
    // A file that failed for missing credits was refunded, and is paid after all.
    await spending.commit(chargeId(voice.key, fileIdOf(voice)), this.#request.sec)
    if (voice.status !== 'failed') await this.#held.advance({ status: 'starting', paidSec: this.#request.sec })
    await this.#held.advance({ status })
  }

  async send(): Promise<void> {
    await this.#requireAllowance()
    const client = await this.#context.client()
    await this.#held.advance({ status: 'registering' })
    const { source } = this.#request
    const { signal } = this.#held
    const freeSlot = await this.#context.slots.transfers.take(signal)
    try {
      if (source.kind === 'address') {
        const file = { clientFileId: source.clientFileId, sourceUrl: source.address }
        const { file_id } = await client.registerFileFromUrl(file, { signal })
        await this.#registered(file_id)
      } else {
        const { size } = await stat(source.path)
        this.#registration = await client.registerAndUpload({ clientFileId: source.clientFileId }, source.path, {
          signal,
          onRegistered: ({ file_id }) => this.#registered(file_id),
          onProgress: ({ transferredBytes }) => this.#report('upload', (100 * transferredBytes) / size),
        })
      }
    } finally {
      freeSlot()
    }
    await this.#held.advance({ status: 'uploaded' })
    this.#mark('uploaded')
  }

  async #registered(fileId: string): Promise<void> {
    // After an expired link the file is registered again: another attempt, for which nothing is charged yet.
    if (this.#held.voice.status !== 'registering') await this.#held.advance({ status: 'registering' })
    await this.#held.advance({ status: 'registered', fileId })
    this.#mark('registered')
  }

  /** Checked before the upload: a voice that must not be paid for today need not be uploaded today. */
  async #requireAllowance(): Promise<void> {
    const { spending, maxSecondsPerDay } = this.#context
    if (maxSecondsPerDay === null) return
    const { committedSec, reservedSec } = await spending.spent()
    requireAllowance(committedSec + reservedSec, this.#request.sec, maxSecondsPerDay)
  }

  async start(): Promise<void> {
    const fileId = fileIdOf(this.#held.voice)
    // A ledger from a back-up may not have the start of a file that an earlier run sent.
    if (this.#timesMs.uploaded === undefined) {
      await this.#held.advance({ status: 'starting', paidSec: this.#request.sec })
      return this.resumeStart(fileId)
    }
    const registered = this.#registration?.file_id === fileId ? this.#registration : null
    await this.#take(fileId, await this.#starts.start(fileId, registered))
  }

  async resumeStart(fileId: string): Promise<void> {
    await this.#take(fileId, await this.#starts.resume(fileId))
  }

  async #take(fileId: string, result: StartResult): Promise<void> {
    if (result === 'not-there') return this.send()
    if (result === 'paid-now') {
      this.#paidSec += this.#request.sec
      this.#progress.onPaid?.(this.#request.sec)
    }
    await this.#started(fileId)
  }

  async #started(fileId: string): Promise<void> {
    // Records the cost first: a process that takes over a started file no longer asks for it.
    await this.#context.spending.commit(chargeId(this.#held.voice.key, fileId), this.#request.sec)
    await this.#held.advance({ status: 'started' })
    this.#mark('started')
  }

  async wait(fileId: string): Promise<void> {
    try {
      await waitForVoice(await this.#context.client(), fileId, {
        signal: this.#held.signal,
        onPercent: (percent) => this.#report('process', percent),
        untilMs: this.#waitUntilMs(fileId),
      })
    } catch (error) {
      if (!isEndOfFile(error)) throw error
      await this.#failed(fileId, error.errorCode)
      if (!this.#retries.afterFailure(error.errorCode)) throw error
      return
    }
    this.#mark('ended')
    await this.#held.advance({ status: 'succeeded' })
  }

  /** A file that failed for missing credits was not charged. For other failures the interface does not say. */
  async #failed(fileId: string, errorCode: number): Promise<void> {
    const isUnpaid = errorCode === NOT_ENOUGH_CREDITS
    if (isUnpaid) await this.#context.spending.refund(chargeId(this.#held.voice.key, fileId))
    await this.#held.advance({ status: 'failed', errorCode, isPaid: isUnpaid ? false : undefined })
  }

  /** A fresh file needs no status request; see `JobRunOptions.waitUntilMs` for the embedded service. */
  #waitUntilMs(fileId: string): number | undefined {
    const { waitUntilMs } = this.#progress
    const isSubmittedNow = this.#timesMs.started !== undefined
    if (waitUntilMs === undefined || (this.#context.isEmbedded && !isSubmittedNow)) return undefined
    if (isSubmittedNow && Date.now() >= waitUntilMs) throw stillProcessed(fileId)
    return waitUntilMs
  }

  async fetch(fileId: string): Promise<void> {
    const { slots } = this.#context
    const { signal } = this.#held
    const client = await this.#context.client()
    const { audioPath, maxBytes } = this.#request
    const onProgress = ({ transferredBytes, totalBytes }: TransferProgress) =>
      totalBytes !== null && this.#report('download', (100 * transferredBytes) / totalBytes)
    try {
      await slots.transfers.run(() => client.download(fileId, audioPath, { signal, onProgress, maxBytes }), signal)
    } catch (thrown) {
      // The service deleted the output after its retention time. The next run has it regenerated again.
      const error = deletedOutput(thrown, this.#held.voice)
      const errorCode = error === thrown ? undefined : USELESS_AUDIO
      if (isEndOfFile(error)) await this.#held.advance({ status: 'failed', errorCode: errorCode ?? error.errorCode })
      throw error
    }
    try {
      await this.#judge()
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error
      return this.#reject(error)
    }
    await this.#keep()
    this.#mark('downloaded')
  }

  async #keep(): Promise<void> {
    await this.#context.cache.put(this.#held.voice.key, this.#request.audioPath)
    await this.#held.advance({ status: 'cached' })
  }

  /** Downloads bad audio again. If the bytes are the same, asks for another output once, which is paid for. */
  async #reject(error: VerificationError): Promise<void> {
    const { voice, signal } = this.#held
    const next = await this.#retries.afterUnusable(this.#request.audioPath, signal)
    if (next === 'download-again') {
      this.#note(`The regenerated audio is unusable (${error.message}) It is downloaded again, at no cost.`)
      return this.#discard()
    }
    if (next === 'give-up-for-now') {
      await this.#discard()
      throw damagedDownloads(error)
    }
    if (KEPT.has(error.code)) {
      await this.#keep()
      throw error
    }
    if (voice.attempts.some(({ status, errorCode }) => status === 'failed' && errorCode === USELESS_AUDIO)) {
      throw unusableTwice(
        error,
        voice.attempts.map(({ fileId }) => fileId),
      )
    }
    await requireDecoder(this.#request, error, signal)
    this.#note('The service returned the same unusable audio twice. voxmux requests it again, which is paid for again.')
    await this.#discard()
    this.#retries.forgetDownloads()
    await this.#held.advance({ status: 'failed', errorCode: USELESS_AUDIO })
  }

  #mark(step: string): void {
    this.#timesMs[step] = Date.now()
  }

  #report(stage: 'upload' | 'process' | 'download', percent: number): void {
    this.#progress.onProgress?.(stage, Math.min(100, percent))
  }
}

/** True if an error is the service's verdict on a file, not a fault of a request. */
function isEndOfFile(error: unknown): error is VoxmuxError & { readonly errorCode: number } {
  if (!(error instanceof VoxmuxError) || error.errorCode === undefined) return false
  return error.code === 'ERR_FILE_FAILED' || error.code === 'ERR_NOT_FOUND'
}

/** The file id of a voice that is registered. */
export function fileIdOf(voice: Voice): string {
  if (voice.fileId === null) throw new Error(`voice ${voice.key} is ${voice.status} without a file id`)
  return voice.fileId
}
