import { isEnded, JobQueue, type JobQueueOptions } from '../../ledger/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files } from '../store/files.js'

interface FileQueueOptions extends Required<Omit<JobQueueOptions, 'groups' | 'retryDelay'>> {
  readonly files: Files
}

/** Accepted files in the job store: the key of a job is the file's id, its group the user. Users take turns. */
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
