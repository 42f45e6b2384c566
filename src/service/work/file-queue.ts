import type { Logger } from '../../core/logger.js'
import { type HeldJob, isEnded, JobQueue, type JobStore } from '../../jobs/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files } from '../store/files.js'

export interface FileQueueOptions {
  readonly store: JobStore
  readonly files: Files
  readonly work: (held: HeldJob) => Promise<void>
  readonly concurrency: number
  readonly pollMs: number
  readonly leaseMs: number
  readonly logger: Logger
}

/** Accepted files in the durable job store: a job a file, its key the file's id, its group the user (who take turns). */
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
    // Started once more after a failure that was ours: the job of the first start has ended, or is about to.
    if (isEnded(job.status)) {
      await store.requeue(job.id)
      this.queue.wake()
    } else if (!created && job.status !== 'queued') return
    await files.markQueued(file.id)
  }

  /** Queues what was accepted but never queued because a process died in between. */
  async recover(): Promise<void> {
    const { files } = this.options
    for (const id of await files.unqueued()) {
      const file = await files.byId(id)
      if (file) await this.enqueue(file)
    }
  }

  /** Forgets the jobs of files that ended so long ago that they cannot be started again. */
  async forgetEnded(forMs: number): Promise<void> {
    await this.options.store.forgetEnded(Date.now() - forMs)
  }

  /** Takes nothing more and gives back what is in work: another node, or the next start, goes on. */
  async stop(): Promise<void> {
    await this.queue.stop()
  }
}
