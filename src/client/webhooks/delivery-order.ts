import type { WebhookBody, WebhookMessage, WebhookStatus } from '../../contract/index.js'
import type { FileStatus } from '../file-status.js'

/** Rank of each status. A lower rank than the last one is outdated. A file that failed can be started again. */
const RANK: Readonly<Record<WebhookStatus, number>> = {
  Uploading: 0,
  Ready: 1,
  Queued: 2,
  'In Progress': 3,
  "Didn't Pass Validation": 4,
  'Retry Needed': 4,
  'Failed-Not-Deleted': 4,
  Processed: 5,
  Deleted: 6,
}
const FAILED = RANK['Retry Needed']

/** Number of remembered files. The least recently updated is forgotten first. */
const MAX_FILES = 10_000

type WebhookEvent = Pick<WebhookBody, 'type' | 'message'>

interface Heard {
  readonly last: WebhookMessage
  /** The failures that were handled, each with its status, type and code. */
  readonly failures: ReadonlySet<string>
}

/** Filters out webhook messages that repeat or arrive out of order: the state of a file only moves forward. */
export class DeliveryOrder {
  readonly #heard = new Map<string, Heard>()

  /** True if a message moves its file forward. Does not record it: call {@link remember} after handling it. */
  isNews({ type, message }: WebhookEvent): boolean {
    const heard = this.#heard.get(message.fileId)
    if (!heard) return true
    const step = RANK[message.status] - RANK[heard.last.status]
    if (step !== 0) return step > 0
    if (message.status === 'In Progress') return message.progress > heard.last.progress
    return RANK[message.status] === FAILED && !heard.failures.has(failureOf({ type, message }))
  }

  remember({ type, message }: WebhookEvent): void {
    if (!this.isNews({ type, message })) return
    const failures = this.#heard.get(message.fileId)?.failures ?? new Set()
    this.#heard.delete(message.fileId)
    this.#heard.set(message.fileId, {
      last: message,
      failures: RANK[message.status] === FAILED ? new Set([...failures, failureOf({ type, message })]) : failures,
    })
    const oldest = this.#heard.keys().next()
    if (this.#heard.size > MAX_FILES && !oldest.done) this.#heard.delete(oldest.value)
  }
}

const failureOf = ({ type, message }: WebhookEvent) => `${type} ${message.status} ${message.errorCode}`

/** Converts a message to the status of an unfinished file. Undefined for an end, which a poll must verify. */
export function statusOnTheWay({ fileId: id, status, progress, errorCode }: WebhookMessage): FileStatus | undefined {
  if (RANK[status] > RANK['In Progress']) return undefined
  return { id, status: status === 'In Progress' ? 'InProgress' : 'Pending', progress, errorCode }
}
