/**
 * The public surface: the client of the service for programs of one's own, and what a plugin needs, those of this house
 * included. Nothing else; docs/plugins.md names each export and whom it is for, and a test holds it to that.
 */

export {
  type CallOptions,
  createWebhookReceiver,
  type Downloaded,
  type FileToRegister,
  type PartialRange,
  type RegisterAndUploadOptions,
  type StartOptions,
  type StartOutcome,
  type TrafficMeter,
  type TransferOptions,
  type TransferProgress,
  VoxmuxClient,
  type VoxmuxClientOptions,
  type WatchOptions,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './client/index.js'
export { type Config, type Flags, resolveConfig } from './config/resolve-config.js'
export { type WatchAfter, watchSchema } from './config/watch-schema.js'
export {
  FILE_ERROR_CODES,
  type FileErrorCode,
  type FileErrorInfo,
  type FileProcessingStatus,
  fileErrorInfo,
  type OutputFileUrl,
  type OutputType,
  type PingAnswer,
  type RegisteredFile,
  type RegisteredFileFromUrl,
  type StartProcessAnswer,
  type WebhookBody,
} from './contract/index.js'
export {
  AccessError,
  type ErrorCode,
  type ErrorReport,
  type ExitCode,
  errorReport,
  InterruptedError,
  JobFailedError,
  PendingError,
  PrecheckError,
  TransientError,
  toVoxmuxError,
  UsageError,
  VerificationError,
  VoxmuxError,
} from './core/errors.js'
export { type Logger, silentLogger } from './core/logger.js'
export { makeDurableFolder } from './core/make-folder.js'
export { syncFolder } from './core/sync-folder.js'
export {
  isEnded,
  type Job,
  type JobCount,
  type JobStatus,
  type JobStore,
  openSeenFiles,
  type Pause,
  type SeenFile,
  type SeenFiles,
  type SeenMounts,
} from './jobs/index.js'
export {
  type AdtsEncoding,
  type AdtsOptions,
  audioStreams,
  decodeAdts,
  encodeAdts,
  type MediaInfo,
  probe,
  soundLag,
  type VideoStreamInfo,
} from './media/index.js'
export type { JobRunOptions, PipelineContext } from './pipeline/context.js'
export { type EdlEvent, readEdlEvents, unreadEdlLines } from './pipeline/edl-events.js'
export type { FileEvent, JobEvent, ProgressEvent, Stage } from './pipeline/events.js'
export { isMediaName } from './pipeline/expand-inputs.js'
export type { FailedJob, JobFacts, JobHooks, PublishedJob, Veto } from './pipeline/job-hooks.js'
export type { JobOutcome } from './pipeline/job-outcome.js'
export { type JobRequestFile, jobRequestSchema } from './pipeline/job-request-schema.js'
export type { JobSettings } from './pipeline/job-settings.js'
export { type JobWorker, type JobWorkerOptions, openJobWorker } from './pipeline/job-worker.js'
export type { EmbeddedServiceHandle, OpenPipelineOptions, Pipeline } from './pipeline/open-pipeline.js'
export { flagsOfRequest } from './pipeline/order-of-request.js'
export { type JobPlan, type PlanRequest, planMedia } from './pipeline/plan-job.js'
export { planRequestOfJob } from './pipeline/plan-request-of-job.js'
export { publish } from './pipeline/publish.js'
export { type QueueOptions, queueJob } from './pipeline/queue-job.js'
export { readJobRequests } from './pipeline/read-job-requests.js'
export { type Receipt, readReceipt, receiptSchema } from './pipeline/receipt.js'
export { type Comparison, compareTracks } from './pipeline/report/comparison.js'
export { type RunJobsOptions, runJobs } from './pipeline/run-jobs.js'
export type { Segment } from './pipeline/segments.js'
export { startTimecodeOf, timecodeFrames } from './pipeline/timecode.js'
export {
  definePlugin,
  type HostedPlugin,
  openPipelineWithPlugins as openPipeline,
  type PluginHost,
  type PluginOptionsSchema,
  type PluginParts,
  type VoxmuxPlugin,
} from './plugin-contract/index.js'
export type { Limits } from './precheck/index.js'
