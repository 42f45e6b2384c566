import type { VoxmuxClient } from '../client/index.js'
import type { OutputType } from '../contract/index.js'
import type { SpendingLog, VoiceCache, VoiceLedger } from '../jobs/index.js'
import type { StageSlots } from './stage-slots.js'
import type { WebhookStart } from './webhook-intake.js'

/** What the remote work of a voice needs. One of these serves any number of jobs. */
export interface VoiceServiceContext {
  /** Opens the service on first use: a job that finds everything in the cache needs none. */
  readonly client: () => Promise<VoxmuxClient>
  /** What a start says to be told of by webhook; null or absent where nothing listens. */
  readonly webhooks?: () => Promise<WebhookStart | null>
  /** Which service and account: voices of one never answer for another. */
  readonly serviceIdentity: string
  /** True where the service runs in this process: what an earlier one submitted goes on only while this one stays. */
  readonly isEmbedded?: boolean
  readonly voices: VoiceLedger
  readonly cache: VoiceCache
  readonly spending: SpendingLog
  readonly maxSecondsPerDay: number | null
  readonly slots: Pick<StageSlots, 'transfers' | 'remote'>
}

/** Sound to regenerate, and how. See `voice-orders.ts` for those there are. */
export interface VoiceOrder {
  /** Hash of the sound, or of what stands for it. */
  readonly voiceHash: string
  readonly model: string
  /** What the service answers in; null for the format of what it gets. */
  readonly outputType: OutputType | null
  /** Seconds that its start is charged for. */
  readonly sec: number
  /** Where the answer is to lie; must not exist. */
  readonly answerPath: string
  /** Gets the sound to the service, from the beginning each time; `onRegistered` is awaited for each file id. */
  send(client: VoxmuxClient, hooks: SendHooks): Promise<void>
}

export interface SendHooks {
  readonly signal: AbortSignal
  readonly onRegistered: (fileId: string) => Promise<void>
  readonly onPercent: (percent: number) => void
}

export interface RegeneratedVoice {
  readonly path: string
  readonly fileId: string | null
  /** True where nothing had to be paid for now. */
  readonly cached: boolean
  readonly paidSec: number
  /** Unix milliseconds of the service's answers in this run. */
  readonly timesMs: Readonly<Record<string, number>>
}

export interface VoiceProgress {
  readonly onProgress?: (stage: 'upload' | 'process' | 'download', percent: number) => void
  readonly signal?: AbortSignal | undefined
  /** See `JobRunOptions.waitUntilMs`. */
  readonly waitUntilMs?: number | undefined
}
