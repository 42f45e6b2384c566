import type { WriteStream } from 'node:tty'
import { type ExitCode, errorReport, type VoxmuxError } from '../../core/errors.js'
import { NdjsonWriter, type WritableEvent } from './ndjson-writer.js'
import { type ResultParts, resultEvent } from './result-event.js'

/** The two ways in which a command speaks: events for programs, text for people. */
export interface Output {
  /** Whether `--json` was asked for. */
  readonly json: boolean
  /** Where people's progress goes. */
  readonly stderr: WriteStream
  /** An event on stdout; nothing without `--json`. */
  readonly event: (event: WritableEvent) => void
  /** The last event, once; nothing without `--json`. */
  readonly result: (parts: ResultParts) => void
  /** What a person asked to see: on stdout; nothing with `--json`, where an event says it. */
  readonly print: (text: string) => void
  /** What a person should know: always on stderr. */
  readonly note: (text: string) => void
  /** Why the command ends: on stderr, and as the last event. */
  readonly fail: (error: VoxmuxError) => void
  /** Makes sure that a last event was written and everything is out. */
  readonly close: (exitCode: ExitCode) => Promise<void>
}

export interface OutputOptions {
  readonly json: boolean
  readonly stdout: WriteStream
  readonly stderr: WriteStream
}

/** Opens both streams; a reader that leaves early never breaks the work. */
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

/** `voxmux: what is wrong`, and what can be done about it, each on its line. */
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
