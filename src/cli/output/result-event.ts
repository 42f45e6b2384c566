import { randomUUID } from 'node:crypto'
import { type ExitCode, errorReport, type VoxmuxError } from '../../core/errors.js'
import type { FileEvent, FileStatus, ResultEvent } from '../../pipeline/events.js'

/** What the last event is made of. */
export interface ResultParts {
  readonly exitCode: ExitCode
  readonly files?: readonly FileEvent[]
  /** How many ended how, of a daemon, which does not remember each. */
  readonly counts?: Partial<Record<FileStatus, number>>
  /** The run's id; that of the single file where there is one, a new one where nothing was begun. */
  readonly id?: string
  /** The one that stands on the result where one was asked for and several were worked on: a timeline's. */
  readonly main?: FileEvent
  /** Why the whole ended, where no file is to blame. */
  readonly error?: VoxmuxError
}

/** Adds up how the inputs ended. With a single input its status, output, receipt and error stand on the result too. */
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
