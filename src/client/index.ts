export { joinAddress, safeAddress } from './address.js'
export type { VoxmuxClientOptions } from './client-options.js'
export type { FileStatus } from './file-status.js'
export type { CallOptions } from './service-api.js'

export type { StartOutcome } from './start-once.js'

export type { TrafficMeter } from './traffic-meter.js'
export { addressBytes } from './transfer/address-bytes.js'
export { downloadAddress } from './transfer/download-address.js'
export type { Downloaded } from './transfer/download-file.js'

export type { TransferProgress } from './transfer/upload-file.js'
export { isWrittenAlready } from './transfer/upload-tries.js'
export { loadTransport } from './transport.js'
export { VoxmuxClient } from './voxmux-client.js'
export {
  createWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './webhooks/webhook-receiver.js'
