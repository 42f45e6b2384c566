import { isEnded, JobQueue, type JobQueueOptions } from '../../ledger/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files } from '../store/files.js'

interface FileQueueOptions extends Required<Omit<JobQueueOptions, 'groups' | 'retryDelay'>> {
  readonly files: Files
}

export type FileQueue = ReturnType<typeof fileQueue>

/** Accepted files in the job store: the key of a job is the file's id, its group the user. Users take turns. */
export function fileQueue({ files, ...options }: FileQueueOptions) {
  const { store } = options
  const queue = new JobQueue(options)

  async function enqueue(file: FileRecord): Promise<void> {
    const { job, created } = await queue.enqueue({ key: file.id, group: file.userId, input: file.fileName })
    // The file was started again after a fault of the service. Its first job has ended, or is about to.
    if (isEnded(job.status)) {
      await store.requeue(job.id)
      queue.wake()
    } else if (!created && job.status !== 'queued') return
    await files.markQueued(file.id)
  }

  return {
    enqueue,
    start: () => queue.start(),
    /** Queues accepted files that were never queued because a process died in between. */
    async recover() {
      for (const id of await files.unqueued()) {
        const file = await files.byId(id)
        if (file) await enqueue(file)
      }
    },
    /** Deletes the jobs of files that ended too long ago to be started again. */
    forgetEnded: (forMs: number) => store.forgetEnded(Date.now() - forMs),
    /** Claims no more files and gives back those in progress, for another node or the next start. */
    stop: () => queue.stop(),
  }
}
