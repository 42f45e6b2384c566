import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { type ExitCode, errorReport, type VoxmuxError } from '../../core/errors.js'
import { visibleJson, visibleLines, visibleText } from '../../core/visible-text.js'
import { EVENT_SCHEMA_VERSION, type FileEvent, type InputStatus, type ResultEvent } from '../../pipeline/events.js'
import { firstFault, stdoutFaultLine } from './stdout-fault.js'

/** The two outputs of a command: events for programs, text for people. */
export interface Output {
  /** True if `--json` was given. */
  readonly json: boolean
  /** Stream of the progress for people. */
  readonly stderr: WriteStream
  /** Writes an event to stdout; does nothing without `--json`. */
  readonly event: (event: WritableEvent) => void
  /** Writes the last event, once; does nothing without `--json`. */
  readonly result: (parts: ResultParts) => void
  /** Prints a result to stdout; does nothing with `--json`, which has an event for it. */
  readonly print: (text: string) => void
  /** Sets what is written before each note, for progress bars, whose place a note takes. */
  readonly setBeforeNote: (sequence: string) => void
  /** Writes a note to stderr, always. */
  readonly note: (text: string) => void
  /** Reports the fatal error on stderr and as the last event. */
  readonly fail: (error: VoxmuxError) => void
  /** Resolves when stdout has taken everything so far. A long list must wait for a slow reader, or it is held in memory. */
  readonly flush: () => Promise<void>
  /** Writes the last event if it is missing, flushes both streams, and resolves to the exit code. */
  readonly close: (exitCode: ExitCode) => Promise<ExitCode>
}

interface OutputOptions {
  readonly json: boolean
  readonly stdout: WriteStream
  readonly stderr: WriteStream
}

/** Opens both streams. The command continues if a reader closes its pipe early. */
export function createOutput({ json, stdout, stderr }: OutputOptions): Output {
  const events = new NdjsonWriter(stdout)
  const faultOfStdout = firstFault(stdout)
  stderr.on('error', () => {})
  let isResultWritten = false
  let beforeNote = ''

  const result = (parts: ResultParts): void => {
    if (!json || isResultWritten) return
    isResultWritten = true
    events.write(resultEvent(parts))
  }

  const note = (text: string): void => {
    stderr.write(`${beforeNote}${visibleLines(text)}\n`)
  }

  return {
    json,
    stderr,
    setBeforeNote: (sequence) => {
      beforeNote = sequence
    },
    event: (event) => {
      if (json && !isResultWritten) events.write(event)
    },
    result,
    print: (text) => {
      if (!json) stdout.write(`${visibleLines(text)}\n`)
    },
    note,
    fail: (error) => {
      note(describeError(error))
      result({ exitCode: error.exitCode, error })
    },
    flush: () => flushed(stdout),
    close: async (exitCode) => {
      result({ exitCode })
      await flushed(stdout)
      const fault = exitCode === 0 ? faultOfStdout() : undefined
      if (fault) note(stdoutFaultLine(fault))
      await flushed(stderr)
      return fault ? 4 : exitCode
    },
  }
}

/** Formats `voxmux: message`, then each remedy on its own line. */
export function describeError(error: VoxmuxError): string {
  const { message, remedies } = errorReport(error)
  return [`voxmux: ${visibleText(message)}`, ...remedies.map((remedy) => `  → ${visibleText(remedy)}`)].join('\n')
}

/** Resolves when all was written, and the errors of it have been emitted. */
function flushed(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => setImmediate(resolve)
    if (stream.destroyed || stream.writableEnded) settle()
    else stream.write('', settle)
  })
}

/** An event to write. The writer adds the version, and an id of null if there is none. */
interface WritableEvent {
  readonly event: string
  readonly [field: string]: unknown
}

/** Writes one JSON object per line. If the reader closes the pipe (`| head -1`), only the writing stops. */
class NdjsonWriter {
  readonly #stream: Writable
  #isOpen = true

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', () => {
      this.#isOpen = false
    })
  }

  write<E extends WritableEvent>({ event, ...fields }: E): void {
    if (!this.#isOpen) return
    const line = JSON.stringify({ event, schemaVersion: EVENT_SCHEMA_VERSION, id: null, ...fields })
    // A person may read it in a terminal.
    this.#stream.write(`${visibleJson(line)}\n`)
  }
}

interface ResultParts {
  readonly exitCode: ExitCode
  readonly files?: readonly FileEvent[]
  /** Number of files by status, from a daemon, which does not keep each file. */
  readonly counts?: Partial<Record<InputStatus, number>>
  /** The run's id: by default the id of a single file, or a new one. */
  readonly id?: string
  /** The file to show on the result, if one was asked for and several were processed, as for a timeline. */
  readonly main?: FileEvent
  /** The fault of the whole run, if it is not a single file's. */
  readonly error?: VoxmuxError
}

/** Counts how the inputs ended. A single input's status, output, receipt and error also appear on the result. */
function resultEvent({ exitCode, files = [], counts, id, main, error }: ResultParts): ResultEvent {
  const count = (status: InputStatus) => counts?.[status] ?? files.filter((file) => file.status === status).length
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
