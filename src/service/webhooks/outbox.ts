import type { FileErrorCode, WebhookBody, WebhookStatus } from '../../contract/index.js'
import type { DeliveryLogEntry } from './delivery-log.js'

/** An event in delivery, leased to one node. */
export interface OutgoingEvent {
  readonly id: number
  readonly fileId: string
  readonly userId: string
  /** Without the secret, whose position is set by the user. */
  readonly body: Omit<WebhookBody, 'secret'>
  /** startProcess's own secret, which overrides the portal's. */
  readonly secret: string | null
  /** Number of the delivery attempt. With {@link owner} it identifies this lease. */
  readonly attempt: number
  /** The node that claimed it. */
  readonly owner: string
}

/** Result of an attempt: final, or retried after a delay. */
export type Settlement =
  | { readonly outcome: 'delivered' | 'given-up' }
  | { readonly outcome: 'failed'; readonly againInMs: number }

/**
 * Events to deliver, in the same store as the files, so that a change and its events are one transaction. The events of
 * a file go out in order and one at a time.
 */
export interface Outbox {
  /** Leases up to `count` events that are due and the first of their file. */
  claim(owner: string, leaseMs: number, count: number): Promise<OutgoingEvent[]>
  /** Ends an attempt and logs it. Does nothing if another node has the lease now. */
  settle(event: OutgoingEvent, settlement: Settlement, entry: Omit<DeliveryLogEntry, 'id' | 'atMs'>): Promise<void>
  /**
   * Sends the event of a log entry again. An event that still waits becomes due at once.
   *
   * @throws {UsageError} `ERR_DELIVERY_UNKNOWN`
   */
  redeliver(entryId: number): Promise<void>
  /** Returns an unfinished delivery when the node stops. It does not count as an attempt. */
  release(event: OutgoingEvent): Promise<void>
}

/** Failures that the validation of the file finds. */
const VALIDATION_CODES: readonly FileErrorCode[] = [-2, -3, -4, -5, -6, -7, -8, -9, -13, -14, -15, -16, -18]

/** The webhook status of a failure: invalid file, retry possible, or other. */
export function failureStatus(errorCode: FileErrorCode): WebhookStatus {
  if (VALIDATION_CODES.includes(errorCode)) return "Didn't Pass Validation"
  return errorCode === -1 || errorCode === -12 ? 'Retry Needed' : 'Failed-Not-Deleted'
}
