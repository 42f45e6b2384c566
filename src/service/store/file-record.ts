import type { FileErrorCode, FileProcessingStatus, OutputType } from '../../contract/index.js'

/** Life of a file: `registered` until it is started, then forward only; the last two are ends. */
export const FILE_STATES = ['registered', 'pending', 'in-progress', 'succeeded', 'failed'] as const
export type FileState = (typeof FILE_STATES)[number]

/** A registered file. Times are Unix milliseconds, positions seconds of media. */
export interface FileRecord {
  readonly id: string
  readonly userId: string
  readonly clientFileId: string
  readonly fileName: string
  /** Where the service is to fetch it; null for a file that the client uploads. */
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
  /** Seconds of audio that were taken from the user's credits. */
  readonly chargedSec: number
  /** Faults of the service since it was started, each of which was reported. */
  readonly faults: number
  /** Nodes that died, or lost hold of it, with this file in work since it was started. */
  readonly crashes: number
  /** Claim of whoever has it in work; null where nobody has. */
  readonly claim: number | null
  /** Whether it was seen in the queue of work since it was started. */
  readonly isQueued: boolean
  /** Without a dot; null while there is no output. */
  readonly outputExtension: string | null
  readonly inputDeletedMs: number | null
  readonly outputDeletedMs: number | null
  readonly createdMs: number
  readonly updatedMs: number
  readonly endedMs: number | null
}

/** The status entry of a file. */
export function toStatusEntry(file: FileRecord): FileProcessingStatus {
  return { id: file.id, status: processingState(file.state), errorCode: file.errorCode, progress: file.progress }
}

/** The status entry of an id that is not there, or not this user's. */
export function notFoundEntry(id: string): FileProcessingStatus {
  return { id, status: 'NotFound', errorCode: -11, progress: 0 }
}

/** The client's id without its last extension: `a/b.final.mov` is `a/b.final`, `.env` stays. */
export function fileNameOf(clientFileId: string): string {
  return clientFileId.replace(/(?<=[^/\\])\.[^./\\]+$/, '')
}

function processingState(state: FileState): FileProcessingStatus['status'] {
  switch (state) {
    case 'registered':
    case 'pending':
      return 'Pending'
    case 'in-progress':
      return 'InProgress'
    case 'succeeded':
      return 'Succeeded'
    case 'failed':
      return 'Failed'
    default:
      return state satisfies never
  }
}
