import { randomUUID } from 'node:crypto'
import type { StartError } from '../../contract/index.js'
import { downloadName, type FileStorage, type SignedLink } from '../storage/file-storage.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files, Registration } from '../store/files.js'
import type { FileStartOptions } from '../store/sql/file-update.js'
import type { FileLife } from './file-life.js'
import type { FileQueue } from './file-queue.js'

/** The operations of the interface, independent of HTTP. */
export class FileService {
  constructor(
    private readonly files: Files,
    private readonly life: FileLife,
    private readonly storage: FileStorage,
    private readonly queue: FileQueue,
  ) {}

  register(registration: Registration): Promise<FileRecord> {
    return this.files.register(randomUUID(), registration)
  }

  uploadLink(file: FileRecord): Promise<SignedLink> {
    return this.storage.uploadLink(file.id)
  }

  /** The user's files with these ids, in the given order; undefined for each that does not exist. */
  async listed(userId: string, fileIds: readonly string[]): Promise<(FileRecord | undefined)[]> {
    const files = await this.files.ofUser(userId, fileIds)
    return files.map((file) => (file && isGone(file) ? undefined : file))
  }

  /** @returns null if the file is accepted now or was before, else the reason */
  async start(userId: string, fileId: string, options: FileStartOptions): Promise<StartError | null | 'not-found'> {
    const [file] = await this.listed(userId, [fileId])
    if (!file) return 'not-found'
    if (file.state === 'registered' && file.sourceUrl === null) {
      if ((await this.storage.inputSize(fileId)) === undefined)
        return { code: 409, message: 'The file has not been uploaded yet.' }
      await this.storage.sealInput(fileId)
    }
    // Accept first: if the process crashes before the file is queued, `recover` queues it.
    const accepted = await this.life.accept(file, options)
    if (accepted?.endedMs === null && !accepted.isQueued) await this.queue.enqueue(accepted)
    return null
  }

  /** @returns undefined for an unknown file, or if its output does not exist (yet, or any more) */
  async outputLink(userId: string, fileId: string): Promise<SignedLink | undefined> {
    const [file] = await this.listed(userId, [fileId])
    if (file?.state !== 'succeeded' || file.outputExtension === null) return undefined
    return this.storage.downloadLink(fileId, file.outputExtension, downloadName(file.fileName))
  }
}

/** A succeeded file must have an output. Once that is deleted, the file is reported as not found. */
function isGone({ state, outputDeletedMs }: FileRecord): boolean {
  return state === 'succeeded' && outputDeletedMs !== null
}
