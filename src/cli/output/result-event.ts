import { randomUUID } from 'node:crypto'
import { type ExitCode, errorReport, type VoxmuxError } from '../../core/errors.js'
import type { FileEvent, FileStatus, ResultEvent } from '../../pipeline/events.js'

/** The parts of the last event. */
export interface ResultParts {
  readonly exitCode: ExitCode
  readonly files?: readonly FileEvent[]
  /** Number of files by status, from a daemon, which does not keep each file. */
  readonly counts?: Partial<Record<FileStatus, number>>
  /** The run's id: by default the id of a single file, or a new one. */
  readonly id?: string
  /** The file to show on the result, if one was asked for and several were processed, as for a timeline. */
  readonly main?: FileEvent
  /** The fault of the whole run, if it is not a single file's. */
  readonly error?: VoxmuxError
}

/** Counts how the inputs ended. A single input's status, output, receipt and error also appear on the result. */
export function resultEvent({ exitCode, files = [], counts, id, main, error }: ResultParts): ResultEvent {
  const count = (status: FileStatus) => counts?.[status] ?? files.filter((file) => file.status === status).length
  const single = main ?? (files.length === 1 ? files[0] : undefined)
  return {
    event: 'result',
    id: id ?? single?.id ?? randomUUID(),
    exitCode,
    done: count('done'),
    skipped: count('skipped'),
    rejected: count('rejected'),
    failed: count('failed'),
    pending: count('pending'),
    files: files.map(({ event: _, ...file }) => file),
    status: single?.status ?? null,
    output: single?.output ?? null,
    receipt: single?.receipt ?? null,
    error: error ? errorReport(error) : (single?.error ?? null),
  }
}
