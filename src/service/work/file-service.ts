import { randomUUID } from 'node:crypto'
import type { StartError } from '../../contract/index.js'
import { downloadName, type FileStorage, type SignedLink } from '../storage/file-storage.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files, Registration, StartOptions } from '../store/files.js'
import type { FileLife } from './file-life.js'
import type { FileQueue } from './file-queue.js'

/** What the operations do, apart from how they are spoken to. */
export class FileService {
  constructor(
    private readonly files: Files,
    private readonly life: FileLife,
    private readonly storage: FileStorage,
    private readonly queue: FileQueue,
  ) {}

  register(
    userId: string,
    asked: { client_file_id: string; source_url?: string; startSec?: number | undefined; endSec?: number | undefined },
  ): Promise<FileRecord> {
    const { client_file_id: clientFileId, source_url: sourceUrl, startSec, endSec } = asked
    const registration: Registration = { userId, clientFileId, sourceUrl, startSec, endSec }
    return this.files.register(randomUUID(), registration)
  }

  uploadLink(file: FileRecord): Promise<SignedLink> {
    return this.storage.uploadLink(file.id)
  }

  /** The user's files with these ids, in the order asked; undefined for what is not there. */
  async listed(userId: string, fileIds: readonly string[]): Promise<(FileRecord | undefined)[]> {
    const files = await this.files.ofUser(userId, fileIds)
    return files.map((file) => (file && isGone(file) ? undefined : file))
  }

  /** @returns null where the file is accepted (or was before), else why not */
  async start(userId: string, fileId: string, options: StartOptions): Promise<StartError | null | 'not-found'> {
    const [file] = await this.listed(userId, [fileId])
    if (!file) return 'not-found'
    if (file.state === 'registered' && file.sourceUrl === null) {
      if ((await this.storage.inputSize(fileId)) === undefined)
        return { code: 409, message: 'The file has not been uploaded yet.' }
      await this.storage.sealInput(fileId)
    }
    // Accepted first: a crash before it is queued is mended by whoever looks for accepted files that are not.
    const accepted = await this.life.accept(file, options)
    if (accepted?.endedMs === null && !accepted.isQueued) await this.queue.enqueue(accepted)
    return null
  }

  /** @returns undefined for an unknown file, and for one whose output is not there (yet, or any more) */
  async outputLink(userId: string, fileId: string): Promise<SignedLink | undefined> {
    const [file] = await this.listed(userId, [fileId])
    if (file?.state !== 'succeeded' || file.outputExtension === null) return undefined
    return this.storage.downloadLink(fileId, file.outputExtension, downloadName(file.fileName))
  }
}

/** Succeeded means that the output can be fetched: where that is deleted, the file is not found any more. */
function isGone({ state, outputDeletedMs }: FileRecord): boolean {
  return state === 'succeeded' && outputDeletedMs !== null
}
