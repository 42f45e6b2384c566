import type { FileProcessingStatus, WebhookMessage, WebhookStatus } from '../contract/index.js'

/** How far along each status is; one of a lower rank than the last is old news. Ends are final, but for deletion. */
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

/** Files remembered; the one heard of longest ago is forgotten first. */
const MAX_FILES = 10_000

/** Tells news from messages that come twice or out of order: the state of a file only moves forward. */
export class WebhookOrder {
  readonly #last = new Map<string, WebhookMessage>()

  /** Whether a message moves its file forward. Looks only: {@link remember} it once it was dealt with. */
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

/**
 * The same in the words of getFilesStatus, for a file that is on its way; undefined for an end, which is asked for
 * rather than believed.
 */
export function statusOnTheWay({
  fileId: id,
  status,
  progress,
  errorCode,
}: WebhookMessage): FileProcessingStatus | undefined {
  if (RANK[status] > RANK['In Progress']) return undefined
  return { id, status: status === 'In Progress' ? 'InProgress' : 'Pending', progress, errorCode }
}
