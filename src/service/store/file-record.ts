import type { FileErrorCode, FileProcessingStatus, OutputType } from '../../contract/index.js'

/** States of a file: `registered` until it is started, then forward only. The last two are final. */
export const FILE_STATES = ['registered', 'pending', 'in-progress', 'succeeded', 'failed'] as const
type FileState = (typeof FILE_STATES)[number]

/** A registered file. Times are Unix milliseconds, positions seconds of media. */
export interface FileRecord {
  readonly id: string
  readonly userId: string
  readonly fileName: string
  /** Address from which the service downloads the file; null for an upload. */
  readonly sourceUrl: string | null
  readonly startSec: number | null
  readonly endSec: number | null
  readonly webhook: boolean
  readonly webhookSecret: string | null
  readonly outputType: OutputType | null
  readonly state: FileState
  readonly errorCode: FileErrorCode
  /** 0 … 100, never falls. */
  readonly progress: number
  /** Charged milliseconds of sound. Whole numbers, so that sums are exact. */
  readonly chargedMs: number
  /** Reported faults of the service since the start of the file. */
  readonly faults: number
  /** Nodes that crashed or lost their lease during processing since the start of the file. */
  readonly crashes: number
  /** Claim of the worker that processes the file; null if nobody does. */
  readonly claim: number | null
  /** True if the file was seen in the job queue since its start. */
  readonly isQueued: boolean
  /** Without a dot; null while there is no output. */
  readonly outputExtension: string | null
  readonly outputDeletedMs: number | null
  readonly endedMs: number | null
}

/** The states of a file as clients see them. */
const STATUSES: Readonly<Record<FileState, FileProcessingStatus['status']>> = {
  ...{ registered: 'Pending', pending: 'Pending', 'in-progress': 'InProgress' },
  ...{ succeeded: 'Succeeded', failed: 'Failed' },
}

/** The status entry of a file. */
export function toStatusEntry(file: FileRecord): FileProcessingStatus {
  return { id: file.id, status: STATUSES[file.state], errorCode: file.errorCode, progress: file.progress }
}

/** The status entry of an id that does not exist for this user. */
export function notFoundEntry(id: string): FileProcessingStatus {
  return { id, status: 'NotFound', errorCode: -11, progress: 0 }
}

/** The name of the client's id without folders and last extension: `a/b.final.mov` is `b.final`, `.env` stays. */
export function fileNameOf(clientFileId: string): string {
  // One look at each character: a pattern that ends with "$" would look at a row of slashes again from each of them.
  let end = clientFileId.length
  while (isSeparator(clientFileId[end - 1])) end -= 1
  let start = end
  while (start > 0 && !isSeparator(clientFileId[start - 1])) start -= 1
  const baseName = clientFileId.slice(start, end)
  const dot = baseName.lastIndexOf('.')
  return dot > 0 && dot < baseName.length - 1 ? baseName.slice(0, dot) : baseName
}

function isSeparator(character: string | undefined): boolean {
  return character === '/' || character === '\\'
}
