export { type Database, openDatabase, type Row, type SqlValue } from './database.js'
export {
  type FileIdentity,
  isEnded,
  JOB_STATUSES,
  type Job,
  type JobRequest,
  type JobState,
  type JobStatus,
} from './job.js'
export { type HeldJob, JobQueue, type JobQueueOptions } from './job-queue.js'
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
