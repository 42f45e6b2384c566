/** The public surface of voxmux: the SDK of the service, the contract it speaks, and the pipeline file to file. */
export {
  type CallOptions,
  createWebhookReceiver,
  type Downloaded,
  type FileToRegister,
  HttpFault,
  httpFaultOf,
  type PartialRange,
  type RegisterAndUploadOptions,
  type StartOptions,
  type StartOutcome,
  type TrafficMeter,
  type TransferOptions,
  type TransferProgress,
  VoxmuxClient,
  type VoxmuxClientOptions,
  voxmuxClientOptionsSchema,
  type WatchOptions,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './client/index.js'
export { type LoadedPreset, loadPreset, presetNames } from './config/load-preset.js'
export { type Preset, presetSchema, type Recipe, recipeSchema } from './config/preset-schema.js'
export { type Config, type Flags, type ResolveOptions, resolveConfig } from './config/resolve-config.js'
export type { WatchAfter, WatchFolderSettings, WatchSettings } from './config/watch-schema.js'
export * from './contract/index.js'
export {
  AccessError,
  type ErrorCode,
  type ErrorReport,
  type ExitCode,
  errorReport,
  InterruptedError,
  JobFailedError,
  overallExitCode,
  PendingError,
  PrecheckError,
  TransientError,
  toVoxmuxError,
  UsageError,
  VerificationError,
  VoxmuxError,
} from './core/errors.js'
export { type Logger, silentLogger } from './core/logger.js'
export {
  isEnded,
  JOB_STATUSES,
  type Job,
  type JobCount,
  type JobFilter,
  type JobStatus,
  type JobStore,
  openSeenFiles,
  type Pause,
  type SeenFile,
  type SeenFiles,
} from './jobs/index.js'
export {
  type AdtsEncoding,
  type AdtsOptions,
  type AudioStreamInfo,
  audioStreams,
  type ChapterInfo,
  decodeAdts,
  encodeAdts,
  type MediaInfo,
  type OtherStreamInfo,
  probe,
  type StreamInfo,
  type VideoStreamInfo,
} from './media/index.js'
export type { JobRunOptions, PipelineContext } from './pipeline/context.js'
export { type EdlEvent, type EdlSpeed, readEdlEvents } from './pipeline/edl-events.js'
export {
  type FileEvent,
  type FileStatus,
  fileEventSchema,
  type JobEvent,
  type ProgressEvent,
  progressEventSchema,
  type ResultEvent,
  type RunEvent,
  resultEventSchema,
  STAGES,
  type Stage,
} from './pipeline/events.js'
export { expandInputs, isMediaName } from './pipeline/expand-inputs.js'
export type { FailedJob, JobFacts, JobHooks, PublishedJob, Veto } from './pipeline/job-hooks.js'
export type { JobOutcome } from './pipeline/job-outcome.js'
export { type JobRequestFile, jobRequestSchema } from './pipeline/job-request-schema.js'
export { type JobSettings, jobSettingsSchema, settingsOfConfig } from './pipeline/job-settings.js'
export { type JobInWork, type JobWorker, type JobWorkerOptions, openJobWorker } from './pipeline/job-worker.js'
export type {
  EmbeddedServiceHandle,
  OpenPipelineOptions,
  Pipeline,
  ServiceAccess,
} from './pipeline/open-pipeline.js'
export { flagsOfRequest, orderOfRequest } from './pipeline/order-of-request.js'
export { type JobPlan, type PlanRequest, planJob, planMedia } from './pipeline/plan-job.js'
export { planRequestOfJob } from './pipeline/plan-request-of-job.js'
export { publish } from './pipeline/publish.js'
export { type QueueOptions, queueJob } from './pipeline/queue-job.js'
export type { JobOrder } from './pipeline/queued-order.js'
export { readJobRequests } from './pipeline/read-job-requests.js'
export { type Receipt, readReceipt, receiptSchema } from './pipeline/receipt.js'
export {
  type ComparedFile,
  type Comparison,
  type ComparisonOptions,
  compareTracks,
  type Side,
} from './pipeline/report/comparison.js'
export { retryJob } from './pipeline/retry-job.js'
export { runJob } from './pipeline/run-job.js'
export { exitCodeOf, type RunJobsOptions, runJobs } from './pipeline/run-jobs.js'
export { parseSegment, type Segment, segmentSchema } from './pipeline/segments.js'
export { frameRateOf, startTimecodeOf, timecodeFrames } from './pipeline/timecode.js'
export {
  definePlugin,
  type LoadedPlugin,
  loadPlugin,
  openPipelineWithPlugins as openPipeline,
  type PluginHost,
  type PluginOptionsSchema,
  type PluginParts,
  type RunningPlugins,
  type StandardSchema,
  startPlugins,
  type VoxmuxPlugin,
} from './plugin-contract/index.js'
export { type Limits, limitsSchema, refusalError, type Verdict, verdictSchema } from './precheck/index.js'
