import type { WriteStream } from 'node:tty'
import { type ExitCode, errorReport, type VoxmuxError } from '../../core/errors.js'
import { NdjsonWriter, type WritableEvent } from './ndjson-writer.js'
import { type ResultParts, resultEvent } from './result-event.js'

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
  /** Writes a note to stderr, always. */
  readonly note: (text: string) => void
  /** Reports the fatal error on stderr and as the last event. */
  readonly fail: (error: VoxmuxError) => void
  /** Writes the last event if it is missing, and flushes both streams. */
  readonly close: (exitCode: ExitCode) => Promise<void>
}

export interface OutputOptions {
  readonly json: boolean
  readonly stdout: WriteStream
  readonly stderr: WriteStream
}

/** Opens both streams. The command continues if a reader closes its pipe early. */
export function createOutput({ json, stdout, stderr }: OutputOptions): Output {
  const events = new NdjsonWriter(stdout)
  stderr.on('error', () => {})
  let isResultWritten = false

  const result = (parts: ResultParts): void => {
    if (!json || isResultWritten) return
    isResultWritten = true
    events.write(resultEvent(parts))
  }

  const note = (text: string): void => {
    stderr.write(`${text}\n`)
  }

  return {
    json,
    stderr,
    event: (event) => {
      if (json && !isResultWritten) events.write(event)
    },
    result,
    print: (text) => {
      if (!json) stdout.write(`${text}\n`)
    },
    note,
    fail: (error) => {
      note(describeError(error))
      result({ exitCode: error.exitCode, error })
    },
    close: async (exitCode) => {
      result({ exitCode })
      await Promise.all([flushed(stdout), flushed(stderr)])
    },
  }
}

/** Formats `voxmux: message`, then each remedy on its own line. */
export function describeError(error: VoxmuxError): string {
  const { message, remedies } = errorReport(error)
  return [`voxmux: ${message}`, ...remedies.map((remedy) => `  → ${remedy}`)].join('\n')
}

function flushed(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) resolve()
    else stream.write('', () => resolve())
  })
}
