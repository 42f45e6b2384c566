import type { FileErrorCode, WebhookStatus } from '../../contract/index.js'
import { leaseLost } from '../../ledger/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Changed, ClaimedFile, Files } from '../store/files.js'
import type { FileChange, FileStartOptions } from '../store/sql/file-update.js'
import { failureStatus, type Notice } from '../webhooks/outbox.js'

/** Percentage between two progress events. */
const EVENT_STEP_PERCENT = 10

/** The steps of a file's life. Each changes the record and queues its events in one transaction. */
export class FileLife {
  readonly #files: Files
  readonly #endListeners = new Set<(fileId: string) => void>()

  constructor(files: Files) {
    this.#files = files
  }

  /** Calls the listener for every file that ends on this node. */
  onEnd(listener: (fileId: string) => void): void {
    this.#endListeners.add(listener)
  }

  /** Accepts a start. A repeated start changes nothing. @returns the file as it is now */
  async accept({ id, sourceUrl }: FileRecord, options: FileStartOptions): Promise<FileRecord | undefined> {
    // For a file from a URL, these events go out when the service downloads it.
    const notices = sourceUrl === null ? statuses('Ready', 'Queued') : []
    return (await this.#files.change(id, { kind: 'start', options }, notices)).file
  }

  async fetching(claimed: ClaimedFile): Promise<void> {
    await this.#step(claimed, { kind: 'tell', claim: claimed.claim }, statuses('Uploading'))
  }

  async fetched(claimed: ClaimedFile): Promise<void> {
    await this.#step(claimed, { kind: 'tell', claim: claimed.claim }, statuses('Ready', 'Queued'))
  }

  async begin(claimed: ClaimedFile): Promise<void> {
    await this.#step(claimed, { kind: 'begin', claim: claimed.claim }, statuses('In Progress'))
  }

  /** @param percent 0 … 100; ignored unless it is more than before; {@link succeed} sets 100 */
  async progress(claimed: ClaimedFile, percent: number): Promise<void> {
    const before = (await this.#files.byId(claimed.id))?.progress ?? 100
    const rounded = Math.min(99, Math.floor(percent))
    if (rounded <= before) return
    const tells = Math.floor(rounded / EVENT_STEP_PERCENT) > Math.floor(before / EVENT_STEP_PERCENT)
    const notices: Notice[] = tells ? [{ type: 'progress-updated', status: 'In Progress' }] : []
    await this.#step(claimed, { kind: 'progress', claim: claimed.claim, percent: rounded }, notices)
  }

  /** @throws {TransientError} `ERR_LEASE_LOST` if another worker has the file now and publishes it */
  async requireHold(claimed: ClaimedFile): Promise<void> {
    await this.#step(claimed, { kind: 'tell', claim: claimed.claim }, [])
  }

  async succeed(claimed: ClaimedFile, outputExtension: string): Promise<void> {
    await this.#step(claimed, { kind: 'succeed', claim: claimed.claim, outputExtension }, statuses('Processed'))
    this.#tellEnd(claimed.id)
  }

  async fail(claimed: ClaimedFile, errorCode: FileErrorCode): Promise<void> {
    const status = failureStatus(errorCode)
    await this.#step(claimed, { kind: 'fail', claim: claimed.claim, errorCode }, [
      { type: 'status-updated', status },
      { type: 'error-updated', status },
    ])
    this.#tellEnd(claimed.id)
  }

  /** Records that the output was deleted after its retention time. */
  async deleted(id: string): Promise<void> {
    await this.#files.change(id, { kind: 'output-deleted' }, statuses('Deleted'))
  }

  #tellEnd(id: string): void {
    for (const listener of this.#endListeners) listener(id)
  }

  /** A step of the worker that holds the file. @throws {TransientError} `ERR_LEASE_LOST` if another one does */
  async #step({ id, claim }: ClaimedFile, change: FileChange, notices: readonly Notice[]): Promise<Changed> {
    const done = await this.#files.change(id, change, notices)
    if (done.file?.claim !== claim) throw leaseLost(`the file ${id}`)
    return done
  }
}

function statuses(...names: WebhookStatus[]): Notice[] {
  return names.map((status) => ({ type: 'status-updated', status }))
}
