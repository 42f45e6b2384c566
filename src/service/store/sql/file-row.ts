import { fileErrorCodeSchema, outputTypeSchema } from '../../../contract/index.js'
import type { Row } from '../../../ledger/index.js'
import { FILE_STATES, type FileRecord } from '../file-record.js'

/** PostgreSQL refuses a NUL within a text. This code point belongs to no character. */
const STORED_NUL = '\uFDD0'

/** A text of a client as it is stored. */
export function storedText(text: string): string {
  return text.replaceAll('\0', STORED_NUL)
}

/** Converts a row of the table `file`. */
export function toFileRecord(row: Row): FileRecord {
  return {
    id: String(row.id),
    userId: String(row.user_id),
    fileName: String(row.file_name).replaceAll(STORED_NUL, '\0'),
    sourceUrl: textOrNull(row.source_url),
    startSec: numberOrNull(row.start_sec),
    endSec: numberOrNull(row.end_sec),
    webhook: row.webhook === 1,
    webhookSecret: textOrNull(row.webhook_secret),
    outputType: row.output_type === null ? null : outputTypeSchema.parse(row.output_type),
    state: FILE_STATES.find((state) => state === row.state) ?? 'failed',
    errorCode: fileErrorCodeSchema.parse(row.error_code),
    progress: Number(row.progress),
    chargedMs: Number(row.charged_ms),
    faults: Number(row.faults),
    crashes: Number(row.crashes),
    claim: numberOrNull(row.working_claim),
    isQueued: row.queued === 1,
    outputExtension: textOrNull(row.output_extension),
    outputDeletedMs: numberOrNull(row.output_deleted_ms),
    endedMs: numberOrNull(row.ended_ms),
  }
}

function textOrNull(value: Row[string] | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function numberOrNull(value: Row[string] | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}
