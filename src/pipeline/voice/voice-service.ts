import type { VoxmuxClient } from '../../client/index.js'
import type { OutputType } from '../../contract/index.js'
import { valueSha256 } from '../../core/file-identity.js'
import type { Logger } from '../../core/logger.js'
import type { SpendingLog, VoiceCache, VoiceLedger } from '../../ledger/index.js'
import type { StageSlots } from '../stage-slots.js'
import type { WebhookStart } from './webhook-intake.js'

/** The environment of the remote work on a voice. Any number of jobs share one. */
export interface VoiceServiceContext {
  /** Opens the service on first use. A job with every voice in the cache needs none. */
  readonly client: () => Promise<VoxmuxClient>
  /** The webhook settings of a start; null or absent if nothing listens. */
  readonly webhooks?: () => Promise<WebhookStart | null>
  /** Identity of the service and the account. One account's voices never serve another. */
  readonly serviceIdentity: string
  /** True if the service runs in this process. Its jobs then run only as long as this process. */
  readonly isEmbedded?: boolean
  readonly voices: VoiceLedger
  readonly cache: VoiceCache
  readonly spending: SpendingLog
  readonly maxSecondsPerDay: number | null
  readonly slots: Pick<StageSlots, 'transfers' | 'remote'>
  readonly logger: Logger
}

/** The part of each voice's key that names its service and account. */
export function serviceMark(serviceIdentity: string): string {
  return valueSha256(serviceIdentity).slice(0, 16)
}

type VoiceSource =
  /** A file that is uploaded. `clientFileId` names it for people who look at the service. */
  | { readonly kind: 'upload'; readonly path: string; readonly clientFileId: string }
  /** An address that the service fetches itself. */
  | { readonly kind: 'address'; readonly address: string; readonly clientFileId: string }

/** A voice to regenerate, and how. `voice-requests.ts` has the two kinds. */
export interface VoiceRequest<Judged> {
  readonly source: VoiceSource
  /** Hash of the voice, or of its address. */
  readonly voiceHash: string
  readonly model: string
  /** Format of the regenerated audio; null for the format of the voice. */
  readonly outputType: OutputType | null
  /** Seconds charged for its start. */
  readonly sec: number
  /** Length above which a download cannot be its regenerated audio; absent if the length of the voice is unknown. */
  readonly maxBytes?: number
  /** Path for the regenerated audio; must not exist. */
  readonly audioPath: string
  /** Called before a start is requested. Throws if the voice must not be paid for, because its input changed. */
  readonly requireInput?: (() => Promise<void>) | undefined
  /** Decodes and compares audio before it is cached. @throws {VerificationError} if it is unusable */
  judge(audioPath: string, signal: AbortSignal): Promise<Judged>
}

export interface RegeneratedVoice<Judged = unknown> {
  readonly path: string
  /** The result of `VoiceRequest.judge`. */
  readonly judged: Judged
  /** Notes for people, as sentences. */
  readonly notes: readonly string[]
  readonly fileId: string | null
  /** True if nothing had to be paid for now. */
  readonly cached: boolean
  readonly paidSec: number
  /** Unix milliseconds of the service's steps in this run. */
  readonly timesMs: Readonly<Record<string, number>>
}

export interface VoiceProgress {
  readonly onProgress?: (stage: 'upload' | 'process' | 'download', percent: number) => void
  /** Called when the service has accepted a start. @param sec charged seconds */
  readonly onPaid?: (sec: number) => void
  readonly signal?: AbortSignal | undefined
  /** See `JobRunOptions.waitUntilMs`. */
  readonly waitUntilMs?: number | undefined
}
