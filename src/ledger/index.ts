export type { Database, Statements, Transaction } from './database/database.js'
export { openSqliteDatabase } from './database/sqlite-database.js'
export { openSqliteFile, type Row, type SqliteFile, type SqlValue } from './database/sqlite-file.js'
export type { FileNews } from './file-news.js'
export { type HeldJob, holdJob } from './jobs/held-job.js'
export {
  isEnded,
  JOB_STATUSES,
  type Job,
  type JobRequest,
  type JobState,
  type JobStatus,
} from './jobs/job.js'
export { JobQueue, type JobQueueOptions } from './jobs/job-queue.js'
export { endFor, endJob, type JobEnd, type RetryDelay, retryForADay } from './jobs/job-retries.js'
export type {
  ClaimedJob,
  JobCheckpoint,
  JobCount,
  JobStore,
  Pause,
} from './jobs/job-store.js'
export { MappedJobStore } from './jobs/mapped-job-store.js'
export { mapTexts, type PathRoot, PathRoots } from './jobs/path-roots.js'
export { isCertainlyDead, thisHolder } from './leases/holder.js'
export { isLeaseLost } from './leases/lease-keeper.js'
export { leaseLost } from './leases/leases.js'
export { type Ledger, openLedger } from './ledger.js'
export type { LedgerRow } from './ledger-rows.js'
export { mappedRows } from './mapped-rows.js'
export { inspectSharedStore } from './shared/inspect-shared-store.js'
export { openSharedDatabase } from './shared/open-shared-database.js'
export { openSharedLedger } from './shared/open-shared-ledger.js'
export { hasPassword, parseStoreAddress, shownAddress } from './shared/store-address.js'
export type { SharedStoreReport } from './shared-store-report.js'
export { sortableId } from './sortable-id.js'
export type { LearnedLimit, LimitFacts, LimitRelation, LimitsLearned } from './spending/limits-learned.js'
export { requireAllowance, type SpendingLog } from './spending/spending-log.js'
export { type HeldVoice, holdVoice } from './voices/held-voice.js'
export {
  USELESS_ANSWER,
  VOICE_MOVES,
  type Voice,
  type VoiceStatus,
  type VoiceStep,
} from './voices/voice.js'
export { VoiceCache } from './voices/voice-cache.js'
export type { VoiceLedger } from './voices/voice-ledger.js'
