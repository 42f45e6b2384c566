import type { Row } from '../database/database.js'
import type { Voice, VoiceAttempt, VoiceStatus } from './voice.js'

/** Converts a row of `voices` with its attempts, oldest first. */
export function voiceOf(row: Row, attempts: readonly VoiceAttempt[]): Voice {
  const latest = attempts.at(-1)
  return {
    key: String(row.key),
    status: row.status as VoiceStatus,
    fileId: latest?.fileId ?? null,
    errorCode: latest?.errorCode ?? null,
    cachePath: row.cache_path === null ? null : String(row.cache_path),
    paidSec: attempts.reduce((sum, attempt) => sum + attempt.paidSec, 0),
    attempts,
    createdMs: Number(row.created_ms),
    updatedMs: Number(row.updated_ms),
  }
}

/** Converts a row of `voice_attempts`. */
export function attemptOf(row: Row): VoiceAttempt {
  return {
    attempt: Number(row.attempt),
    fileId: row.file_id === null ? null : String(row.file_id),
    status: row.status as VoiceAttempt['status'],
    errorCode: row.error_code === null ? null : Number(row.error_code),
    paidSec: row.charged === 1 ? Number(row.paid_sec) : 0,
    startedMs: Number(row.started_ms),
    endedMs: row.ended_ms === null ? null : Number(row.ended_ms),
  }
}
