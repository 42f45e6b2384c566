import type { FileErrorCode, WebhookStatus } from '../../contract/index.js'
import { leaseLost } from '../../jobs/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Changed, FileChange, Files, Notice, StartOptions, TakenFile } from '../store/files.js'
import { failureStatus } from '../webhooks/outbox.js'

/** A progress event goes out each time so many percent are done. */
const EVENT_STEP_PERCENT = 10

/** The steps of a file's life: each changes the record and queues what is told of it, in one step of the store. */
export class FileLife {
  private readonly endListeners = new Set<(fileId: string) => void>()

  constructor(private readonly files: Files) {}

  /** Tells within this process of every file that ends on this node. */
  onEnd(listener: (fileId: string) => void): void {
    this.endListeners.add(listener)
  }

  /** Accepts a start; a repeated one changes nothing. @returns the file as it is now */
  async accept({ id, sourceUrl }: FileRecord, options: StartOptions): Promise<FileRecord | undefined> {
    // A file from a URL is told of as uploading, ready and queued when the service fetches it.
    const notices = sourceUrl === null ? statuses('Ready', 'Queued') : []
    return (await this.files.change(id, { kind: 'start', options }, notices)).file
  }

  async fetching(taken: TakenFile): Promise<void> {
    await this.step(taken, { kind: 'tell', claim: taken.claim }, statuses('Uploading'))
  }

  async fetched(taken: TakenFile): Promise<void> {
    await this.step(taken, { kind: 'tell', claim: taken.claim }, statuses('Ready', 'Queued'))
  }

  async begin(taken: TakenFile): Promise<void> {
    await this.step(taken, { kind: 'begin', claim: taken.claim }, statuses('In Progress'))
  }

  /** @param percent 0 … 100; what is not more than before is ignored, and 100 is left to {@link succeed} */
  async progress(taken: TakenFile, percent: number): Promise<void> {
    const before = (await this.files.byId(taken.id))?.progress ?? 100
    const rounded = Math.min(99, Math.floor(percent))
    if (rounded <= before) return
    const tells = Math.floor(rounded / EVENT_STEP_PERCENT) > Math.floor(before / EVENT_STEP_PERCENT)
    const notices: Notice[] = tells ? [{ type: 'progress-updated', status: 'In Progress' }] : []
    await this.step(taken, { kind: 'progress', claim: taken.claim, percent: rounded }, notices)
  }

  /** @throws TransientError `ERR_LEASE_LOST`: whoever has the file now publishes it */
  async requireHold(taken: TakenFile): Promise<void> {
    await this.step(taken, { kind: 'tell', claim: taken.claim }, [])
  }

  async succeed(taken: TakenFile, outputExtension: string): Promise<void> {
    await this.step(taken, { kind: 'succeed', claim: taken.claim, outputExtension }, statuses('Processed'))
    this.tellEnd(taken.id)
  }

  async fail(taken: TakenFile, errorCode: FileErrorCode): Promise<void> {
    const status = failureStatus(errorCode)
    await this.step(taken, { kind: 'fail', claim: taken.claim, errorCode }, [
      { type: 'status-updated', status },
      { type: 'error-updated', status },
    ])
    this.tellEnd(taken.id)
  }

  /** Its output is gone after the time of retention. */
  async deleted(id: string): Promise<void> {
    await this.files.change(id, { kind: 'output-deleted' }, statuses('Deleted'))
  }

  private tellEnd(id: string): void {
    for (const listener of this.endListeners) listener(id)
  }

  /** A step of whoever works on the file. @throws TransientError `ERR_LEASE_LOST` where it is another's by now */
  private async step({ id, claim }: TakenFile, change: FileChange, notices: readonly Notice[]): Promise<Changed> {
    const done = await this.files.change(id, change, notices)
    if (done.file?.claim !== claim) throw leaseLost(`the file ${id}`)
    return done
  }
}

function statuses(...names: WebhookStatus[]): Notice[] {
  return names.map((status) => ({ type: 'status-updated', status }))
}
