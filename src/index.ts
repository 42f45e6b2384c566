/** The public surface. docs/sdk.md shows each name in a program that a test runs, and a test counts the names. */

export {
  createWebhookReceiver,
  type Downloaded,
  type StartOutcome,
  type TransferProgress,
  VoxmuxClient,
  type VoxmuxClientOptions,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './client/index.js'
export { type Config, resolveConfig } from './config/resolve-config.js'
export {
  FILE_ERROR_CODES,
  type FileErrorCode,
  fileErrorInfo,
  type OutputType,
  type RegisteredFile,
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
export { defineExtension, type Extension, type ExtensionHost, type ExtensionParts } from './extensions/index.js'
export type { FileEvent, JobEvent, ProgressEvent, Stage } from './pipeline/events.js'
export type { JobOutcome } from './pipeline/job/job-outcome.js'
export type { Pipeline } from './pipeline/job/open-pipeline.js'
export { runJobs } from './pipeline/job/run-jobs.js'
export type { FailedJob, JobFacts, JobHooks, PublishedJob, Veto } from './pipeline/job-hooks.js'
export { type Receipt, readReceipt, receiptSchema } from './pipeline/output/receipt.js'
export type { JobPlan } from './pipeline/plan/plan-job.js'
export { type JobRequestFile, jobRequestSchema, planRequestOfJob } from './pipeline/queue/job-request.js'
export { type JobWorker, openJobWorker } from './pipeline/queue/job-worker.js'
export { queueJob } from './pipeline/queue/queue-job.js'
export { openRuntime } from './runtime/open-runtime.js'
