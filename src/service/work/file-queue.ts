import type { VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { type HeldJob, isEnded, JobQueue, type JobStore } from '../../ledger/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files } from '../store/files.js'

export interface FileQueueOptions {
  readonly store: JobStore
  readonly files: Files
  readonly run: (held: HeldJob) => Promise<void>
  readonly concurrency: number
  readonly pollMs: number
  readonly leaseMs: number
  readonly onFault: (error: VoxmuxError) => void
  readonly logger: Logger
}

/**
 * Accepted files in the durable job store. A job is a file: its key is the file's id, its group the user. Users take
 * turns.
 */
export class FileQueue {
  private readonly queue: JobQueue

  constructor(private readonly options: FileQueueOptions) {
    this.queue = new JobQueue(options)
  }

  start(): void {
    this.queue.start()
  }

  async enqueue(file: FileRecord): Promise<void> {
    const { store, files } = this.options
    const { job, created } = await this.queue.enqueue({ key: file.id, group: file.userId, input: file.fileName })
    // The file was started again after a fault of the service. Its first job has ended, or is about to.
    if (isEnded(job.status)) {
      await store.requeue(job.id)
      this.queue.wake()
    } else if (!created && job.status !== 'queued') return
    await files.markQueued(file.id)
  }

  /** Queues accepted files that were never queued because a process died in between. */
  async recover(): Promise<void> {
    const { files } = this.options
    for (const id of await files.unqueued()) {
      const file = await files.byId(id)
      if (file) await this.enqueue(file)
    }
  }

  /** Deletes the jobs of files that ended too long ago to be started again. */
  async forgetEnded(forMs: number): Promise<void> {
    await this.options.store.forgetEnded(Date.now() - forMs)
  }

  /** Claims no more files and gives back those in progress, for another node or the next start. */
  async stop(): Promise<void> {
    await this.queue.stop()
  }
}
