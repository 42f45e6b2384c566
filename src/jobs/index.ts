export { type Database, openDatabase, type Row, type SqlValue } from './database.js'
export type { FileNews } from './file-news.js'
export { type HeldJob, type HoldJobOptions, holdJob } from './held-job.js'
export { type HeldVoice, type HoldVoiceOptions, holdVoice } from './held-voice.js'
export { inspectSharedStore } from './inspect-shared-store.js'
export {
  type FileIdentity,
  isEnded,
  JOB_STATUSES,
  type Job,
  type JobRequest,
  type JobState,
  type JobStatus,
} from './job.js'
export { JobQueue, type JobQueueOptions } from './job-queue.js'
export { endFor, endJob, type JobEnd, type RetryDelay, retryForADay } from './job-retries.js'
export {
  type ClaimedJob,
  type ClaimOptions,
  type ClaimOutcome,
  DEFAULT_LEASE_MS,
  type JobCheckpoint,
  type JobCount,
  type JobFilter,
  type JobLease,
  type JobStore,
  type Pause,
} from './job-store.js'
export { isLeaseLost } from './lease-keeper.js'
export { leaseLost } from './leases.js'
export { type Ledger, type LedgerOptions, openLedger, type SharedLedgerOptions } from './ledger.js'
export type { FileFacts, LearnedLimit, LimitRelation, LimitsLearned } from './limits-learned.js'
export { MappedJobStore } from './mapped-job-store.js'
export { openSharedLedger } from './open-shared-ledger.js'
export { openSharedScripts } from './open-shared-scripts.js'
export { type PathRoot, PathRoots } from './path-roots.js'
export { openSeenFiles, type SeenFile, type SeenFiles, type SeenMounts } from './seen-files.js'
export type { ScriptRunner } from './shared-scripts.js'
export type { SharedStoreReport } from './shared-store-report.js'
export { sortableId } from './sortable-id.js'
export { type DaySpending, requireAllowance, type SpendingLimit, type SpendingLog } from './spending-log.js'
export {
  VOICE_MOVES,
  VOICE_STATUSES,
  type Voice,
  type VoiceAttempt,
  type VoiceStatus,
  type VoiceStep,
} from './voice.js'
export { type CachedVoice, VoiceCache, type VoiceCacheOptions } from './voice-cache.js'
export type { VoiceClaim, VoiceLease, VoiceLedger } from './voice-ledger.js'
export { WakeUp } from './wake-up.js'
