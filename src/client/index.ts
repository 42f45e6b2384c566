export { safeAddress } from './address.js'
export {
  pollingOptionsSchema,
  retryOptionsSchema,
  timeoutOptionsSchema,
  type VoxmuxClientOptions,
  voxmuxClientOptionsSchema,
} from './client-options.js'
export { downloadAddress } from './download-address.js'
export type { Downloaded } from './download-file.js'
export { type FaultReason, HttpFault, httpFaultOf } from './http-fault.js'
export type { RegisterAndUploadOptions } from './register-and-upload.js'
export type { CallOptions, FileToRegister, PartialRange, StartOptions } from './service-api.js'
export type { StartOutcome } from './start-once.js'
export type { WatchOptions } from './status-watcher.js'
export type { TrafficMeter } from './traffic-meter.js'
export type { TransferOptions, TransferProgress } from './upload-file.js'
export { VoxmuxClient } from './voxmux-client.js'
export {
  createWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions,
  webhookReceiverOptionsSchema,
} from './webhook-receiver.js'
