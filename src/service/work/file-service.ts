import { randomUUID } from 'node:crypto'
import type { StartError } from '../../contract/index.js'
import type { ServiceSettings } from '../service-settings.js'
import { downloadName, type FileStorage, type SignedLink } from '../storage/file-storage.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files, Registration } from '../store/files.js'
import type { FileStartOptions } from '../store/sql/file-update.js'
import type { FileLife } from './file-life.js'
import type { FileQueue } from './file-queue.js'

/** The operations of the interface, independent of HTTP. */
export function fileService(
  files: Files,
  life: FileLife,
  storage: FileStorage,
  queue: FileQueue,
  { maxUnstartedFiles }: ServiceSettings['accounts'],
) {
  /** The user's files with these ids, in the given order; undefined for each that does not exist. */
  async function listed(userId: string, fileIds: readonly string[]): Promise<(FileRecord | undefined)[]> {
    return (await files.ofUser(userId, fileIds)).map((file) => (file && isGone(file) ? undefined : file))
  }

  return {
    /** The files of {@link listed}, of which a client expects those that have not ended. */
    async expected(userId: string, fileIds: readonly string[]): Promise<(FileRecord | undefined)[]> {
      const found = await listed(userId, fileIds)
      for (const file of found) if (file?.isQueued && file.endedMs === null) await queue.ask(file.id)
      return found
    },

    /** @returns 'too-many' if the user has as many files that were not started as an account may have */
    async register(registration: Registration): Promise<FileRecord | 'too-many'> {
      if ((await files.unstarted(registration.userId)) >= maxUnstartedFiles) return 'too-many'
      return files.register(randomUUID(), registration)
    },

    uploadLink: (file: FileRecord) => storage.uploadLink(file.id),

    /** @returns null if the file is accepted now or was before, else the reason */
    async start(userId: string, fileId: string, options: FileStartOptions): Promise<StartError | null | 'not-found'> {
      const [file] = await listed(userId, [fileId])
      if (!file) return 'not-found'
      if (file.state === 'registered' && file.sourceUrl === null) {
        if ((await storage.inputSize(fileId)) === undefined)
          return { code: 409, message: 'The file has not been uploaded yet.' }
        await storage.sealInput(fileId)
      }
      // Accept first: if the process crashes before the file is queued, `recover` queues it.
      const accepted = await life.accept(file, options)
      if (accepted?.endedMs === null) await (accepted.isQueued ? queue.ask(fileId) : queue.enqueue(accepted))
      return null
    },

    /** @returns undefined for an unknown file, or if its output does not exist (yet, or any more) */
    async outputLink(userId: string, fileId: string): Promise<SignedLink | undefined> {
      const [file] = await listed(userId, [fileId])
      if (file?.state !== 'succeeded' || file.outputExtension === null) return undefined
      return storage.downloadLink(fileId, file.outputExtension, downloadName(file.fileName))
    },
  }
}

export type FileService = ReturnType<typeof fileService>

/** A succeeded file must have an output. Once that is deleted, the file is reported as not found. */
function isGone({ state, outputDeletedMs }: FileRecord): boolean {
  return state === 'succeeded' && outputDeletedMs !== null
}
