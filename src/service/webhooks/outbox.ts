import type { FileErrorCode, WebhookBody, WebhookStatus } from '../../contract/index.js'
import type { DeliveryLogEntry } from './delivery-log.js'

/** An event on its way, leased to one node. */
export interface OutgoingEvent {
  readonly id: number
  readonly fileId: string
  readonly userId: string
  /** Without the secret, which goes where the user's settings say. */
  readonly body: Omit<WebhookBody, 'secret'>
  /** startProcess's own secret, which wins over the portal's. */
  readonly secret: string | null
  /** Deliveries tried, this one included. With {@link owner} it tells this lease from every other. */
  readonly attempt: number
  /** Who claimed it. */
  readonly owner: string
}

/** What became of an attempt: over, or to be tried again in so long. */
export type Settlement =
  | { readonly outcome: 'delivered' | 'given-up' }
  | { readonly outcome: 'failed'; readonly againInMs: number }

/**
 * Events that are to be delivered, in the store beside the files: what happened and what is told of it are one step.
 * Within a file they go out in order, and one at a time.
 */
export interface Outbox {
  /** Leases up to `count` events that are due and first of their file. */
  claim(owner: string, leaseMs: number, count: number): Promise<OutgoingEvent[]>
  /** Ends an attempt and writes it into the log. What is another's by now is left alone. */
  settle(event: OutgoingEvent, settlement: Settlement, entry: Omit<DeliveryLogEntry, 'atMs'>): Promise<void>
  /** Gives an unfinished delivery back at a stop: it does not count as an attempt. */
  release(event: OutgoingEvent): Promise<void>
}

/** Failures that validation finds in the file itself. */
const VALIDATION_CODES: readonly FileErrorCode[] = [-2, -3, -4, -5, -6, -7, -8, -9, -13, -14, -15, -16, -18]

/** The webhook's status of a failure: what is wrong with the file, what may be tried again, and the rest. */
export function failureStatus(errorCode: FileErrorCode): WebhookStatus {
  if (VALIDATION_CODES.includes(errorCode)) return "Didn't Pass Validation"
  return errorCode === -1 || errorCode === -12 ? 'Retry Needed' : 'Failed-Not-Deleted'
}
