import {
  type FileErrorCode,
  type FileProcessingStatus,
  fileErrorCodeSchema,
  type OutputType,
  outputTypeSchema,
} from '../../contract/index.js'
import type { Row } from '../../jobs/index.js'

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
  /** Without a dot; null while there is no output. */
  readonly outputExtension: string | null
  readonly inputDeletedMs: number | null
  readonly outputDeletedMs: number | null
  readonly createdMs: number
  readonly updatedMs: number
  readonly endedMs: number | null
}

/** A row of the table `file`. */
export function toFileRecord(row: Row): FileRecord {
  return {
    id: String(row.id),
    userId: String(row.user_id),
    clientFileId: String(row.client_file_id),
    fileName: String(row.file_name),
    sourceUrl: textOrNull(row.source_url),
    startSec: numberOrNull(row.start_sec),
    endSec: numberOrNull(row.end_sec),
    webhook: row.webhook === 1,
    webhookSecret: textOrNull(row.webhook_secret),
    outputType: row.output_type === null ? null : outputTypeSchema.parse(row.output_type),
    state: FILE_STATES.find((state) => state === row.state) ?? 'failed',
    errorCode: fileErrorCodeSchema.parse(row.error_code),
    progress: Number(row.progress),
    chargedSec: Number(row.charged_sec),
    faults: Number(row.faults),
    crashes: Number(row.crashes),
    outputExtension: textOrNull(row.output_extension),
    inputDeletedMs: numberOrNull(row.input_deleted_ms),
    outputDeletedMs: numberOrNull(row.output_deleted_ms),
    createdMs: Number(row.created_ms),
    updatedMs: Number(row.updated_ms),
    endedMs: numberOrNull(row.ended_ms),
  }
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

function textOrNull(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function numberOrNull(value: Row[string] | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}
