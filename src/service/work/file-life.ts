import type { FileErrorCode } from '../../contract/index.js'
import type { Database } from '../../jobs/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files, StartOptions } from '../store/files.js'
import type { Outbox } from '../webhooks/outbox.js'

/** A progress event goes out each time so many percent are done. */
const EVENT_STEP_PERCENT = 10

/** The steps of a file's life: each changes the record and queues what is told of it, in one transaction. */
export class FileLife {
  private readonly endListeners = new Set<(fileId: string) => void>()

  constructor(
    private readonly database: Database,
    private readonly files: Files,
    private readonly outbox: Outbox,
  ) {}

  /** Tells within this process of every file that ends on this node. */
  onEnd(listener: (fileId: string) => void): void {
    this.endListeners.add(listener)
  }

  /** @returns false for a repeated start */
  accept(id: string, options: StartOptions): boolean {
    return this.step(
      () => this.files.start(id, options),
      id,
      // A file from a URL is told of as uploading, ready and queued when the service fetches it.
      (file) => (file.sourceUrl === null ? this.tell(file, 'Ready', 'Queued') : undefined),
    )
  }

  fetching(id: string): void {
    this.step(always, id, (file) => this.tell(file, 'Uploading'))
  }

  fetched(id: string): void {
    this.step(always, id, (file) => this.tell(file, 'Ready', 'Queued'))
  }

  begin(id: string): void {
    this.step(
      () => this.files.beginProgress(id),
      id,
      (file) => this.tell(file, 'In Progress'),
    )
  }

  /** @param percent 0 … 100; what is not more than before is ignored, and 100 is left to {@link succeed} */
  progress(id: string, percent: number): void {
    const before = this.files.byId(id)?.progress ?? 100
    const rounded = Math.min(99, Math.floor(percent))
    if (rounded <= before) return
    const tells = Math.floor(rounded / EVENT_STEP_PERCENT) > Math.floor(before / EVENT_STEP_PERCENT)
    this.step(
      () => this.files.setProgress(id, rounded),
      id,
      (file) => (tells ? this.outbox.add(file, 'progress-updated', 'In Progress') : undefined),
    )
  }

  succeed(id: string, outputExtension: string): void {
    this.step(
      () => this.files.succeed(id, outputExtension),
      id,
      (file) => this.tell(file, 'Processed'),
    )
    this.tellEnd(id)
  }

  fail(id: string, errorCode: FileErrorCode): void {
    this.step(
      () => this.files.fail(id, errorCode),
      id,
      (file) => this.outbox.addFailure(file),
    )
    this.tellEnd(id)
  }

  /** Its output is gone after the time of retention. */
  deleted(id: string): void {
    this.step(always, id, (file) => this.tell(file, 'Deleted'))
  }

  private tellEnd(id: string): void {
    for (const listener of this.endListeners) listener(id)
  }

  private tell(
    file: FileRecord,
    ...statuses: ('Ready' | 'Uploading' | 'Queued' | 'In Progress' | 'Processed' | 'Deleted')[]
  ) {
    for (const status of statuses) this.outbox.add(file, 'status-updated', status)
  }

  private step(change: () => boolean, id: string, announce: (file: FileRecord) => void): boolean {
    return this.database.transaction(() => {
      const changed = change()
      const file = changed ? this.files.byId(id) : undefined
      if (file) announce(file)
      return changed
    })
  }
}

const always = () => true
