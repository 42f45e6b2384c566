import type { WebhookMessage, WebhookStatus } from '../../contract/index.js'
import type { FileStatus } from '../file-status.js'

/** Rank of each status. A lower rank than the last one is outdated. Ends are final, except for a deletion. */
const RANK: Readonly<Record<WebhookStatus, number>> = {
  Uploading: 0,
  Ready: 1,
  Queued: 2,
  'In Progress': 3,
  Processed: 4,
  "Didn't Pass Validation": 4,
  'Retry Needed': 4,
  'Failed-Not-Deleted': 4,
  Deleted: 5,
}

/** Number of remembered files. The least recently updated is forgotten first. */
const MAX_FILES = 10_000

/** Filters out webhook messages that repeat or arrive out of order: the state of a file only moves forward. */
export class DeliveryOrder {
  readonly #last = new Map<string, WebhookMessage>()

  /** True if a message moves its file forward. Does not record it: call {@link remember} after handling it. */
  isNews(message: WebhookMessage): boolean {
    const last = this.#last.get(message.fileId)
    if (!last) return true
    const step = RANK[message.status] - RANK[last.status]
    if (step !== 0) return step > 0
    return message.status === 'In Progress' && message.progress > last.progress
  }

  remember(message: WebhookMessage): void {
    if (!this.isNews(message)) return
    this.#last.delete(message.fileId)
    this.#last.set(message.fileId, message)
    const oldest = this.#last.keys().next()
    if (this.#last.size > MAX_FILES && !oldest.done) this.#last.delete(oldest.value)
  }
}

/** Converts a message to the status of an unfinished file. Undefined for an end, which a poll must verify. */
export function statusOnTheWay({ fileId: id, status, progress, errorCode }: WebhookMessage): FileStatus | undefined {
  if (RANK[status] > RANK['In Progress']) return undefined
  return { id, status: status === 'In Progress' ? 'InProgress' : 'Pending', progress, errorCode }
}
