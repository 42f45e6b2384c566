import { randomUUID } from 'node:crypto'
import { isEnded, JobQueue, type JobQueueOptions } from '../../ledger/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files } from '../store/files.js'

interface FileQueueOptions extends Required<Omit<JobQueueOptions, 'groups' | 'retryDelay'>> {
  readonly files: Files
  readonly askedOnly: boolean
}

export type FileQueue = ReturnType<typeof fileQueue>

/**
 * Accepted files in the job store: the key of a job is the file's id. Its group is the user, and users take turns. With
 * `askedOnly` the group is the node. The node then claims its own group, and those that it is asked about.
 */
export function fileQueue({ files, askedOnly, ...options }: FileQueueOptions) {
  const { store } = options
  const own: string = randomUUID()
  const groups = [own]
  const queue = new JobQueue(askedOnly ? { ...options, groups } : options)

  function join(group: string): void {
    if (!askedOnly || groups.includes(group)) return
    groups.push(group)
    queue.wake()
  }

  async function enqueue(file: FileRecord): Promise<void> {
    const { job, created } = await queue.enqueue({
      key: file.id,
      group: askedOnly ? own : file.userId,
      input: file.fileName,
    })
    join(job.group)
    // The file was started again after a fault of the service. Its first job has ended, or is about to.
    if (isEnded(job.status)) {
      await store.requeue(job.id)
      queue.wake()
    } else if (!created && job.status !== 'queued') return
    await files.markQueued(file.id)
  }

  return {
    enqueue,
    /** Claims also the files of this one's group, if this node claims only what is asked for. */
    async ask(fileId: string) {
      if (askedOnly) join((await store.getByKey(fileId))?.group ?? own)
    },
    start: () => queue.start(),
    /** Queues accepted files that were never queued because a process died in between. */
    async recover() {
      for (const id of await files.unqueued()) {
        const file = await files.byId(id)
        if (file) await enqueue(file)
      }
    },
    /**
     * Deletes the job of a file that a process started for itself.
     *
     * @returns false if the file is for all nodes, or if one works on it
     */
    async giveUp({ id, userId }: FileRecord): Promise<boolean> {
      const job = await store.getByKey(id)
      return job === null || (job.group !== userId && job.status !== 'working' && (await store.forget(job.id)))
    },
    /** Deletes the jobs of files that ended too long ago to be started again. */
    forgetEnded: (forMs: number) => store.forgetEnded(Date.now() - forMs),
    /** Claims no more files and gives back those in progress, for another node or the next start. */
    stop: () => queue.stop(),
  }
}
