import { basename } from 'node:path'
import { type Logger, silentLogger } from '../../core/logger.js'
import type { FileEvent, JobEvent, ProgressEvent } from '../../pipeline/events.js'
import { type FileLine, fileLine } from './file-line.js'
import { JobProgress, STAGE_LABELS } from './job-progress.js'
import type { Output } from './output.js'
import { ERASE, fitCells, ProgressBars } from './progress-bars.js'
import { colorsOf } from './wording.js'

/** The style of `--progress`: `auto` shows bars in a terminal and lines elsewhere. */
export type ProgressStyle = 'auto' | 'plain' | 'none'

/** Reports progress to programs and people. */
export interface Reporter {
  /** Reports an event of a job: as is to programs, in words to people. */
  readonly report: (event: JobEvent) => void
  /** Prints warnings as notes. */
  readonly logger: Logger
  /** Prints a permanent line for people, above any bars. */
  readonly note: (text: string) => void
  /** Removes the bars, before the summary and after any end. */
  readonly stop: () => void
}

interface People {
  readonly progress: (event: ProgressEvent) => void
  readonly file: (event: FileEvent) => void
  readonly note: (text: string) => void
  readonly stop: () => void
}

/** Opens the reporter of a command. @param line of an ended file @param total of files; 0 if it is unknown */
export function createReporter(
  output: Output,
  style: ProgressStyle = 'auto',
  line: FileLine = fileLine,
  total = 0,
): Reporter {
  const lineOf: LineOf = (event) => line(event, colorsOf(output.stderr), process.cwd())
  const people = peopleReporter(output, style, lineOf, total)
  return {
    report: (event) => {
      output.event(event)
      return event.event === 'progress' ? people.progress(event) : people.file(event)
    },
    logger: { ...silentLogger, warn: (_fields, message) => people.note(`! ${message}`) },
    note: people.note,
    stop: people.stop,
  }
}

type LineOf = (event: FileEvent) => string | null

function peopleReporter(output: Output, style: ProgressStyle, lineOf: LineOf, total: number): People {
  // A dumb terminal cannot move its cursor, so bars would fill it.
  const hasCursor = output.stderr.isTTY === true && process.env.TERM !== 'dumb'
  // In a terminal with --json, bars and events would overwrite each other.
  if (style === 'none' || (style === 'auto' && output.json)) return quiet(output, lineOf)
  return style === 'auto' && hasCursor ? bars(output, lineOf, total) : plain(output, lineOf)
}

/** Prints only how each file ended. */
function quiet(output: Output, lineOf: LineOf): People {
  const file = (event: FileEvent) => {
    const line = lineOf(event)
    if (line !== null) output.note(line)
  }
  return { progress: () => {}, file, note: output.note, stop: () => {} }
}

/** Prints a line at the start of each stage, for logs. */
function plain(output: Output, lineOf: LineOf): People {
  const stages = new Map<string, string>()
  return {
    ...quiet(output, lineOf),
    progress: ({ id, input, stage }) => {
      if (stages.get(id) === stage) return
      stages.set(id, stage)
      output.note(`${fitCells(basename(input), 120)}: ${STAGE_LABELS[stage]}`)
    },
  }
}

function bars(output: Output, lineOf: LineOf, total: number): People {
  const painted = new ProgressBars(output.stderr, total)
  output.setBeforeNote(ERASE)
  const jobs = new Map<string, JobProgress>()
  return {
    progress: (event) => {
      const { id, input, soundSec } = event
      const job = jobs.get(id) ?? new JobProgress()
      jobs.set(id, job)
      painted.update(id, { name: basename(input), soundSec, ...job.take(event, performance.now()) })
    },
    file: (event) => {
      painted.remove(event.id)
      jobs.delete(event.id)
      const line = lineOf(event)
      if (line !== null) painted.write(line)
    },
    note: (text) => painted.write(text),
    stop: () => {
      painted.stop()
      output.setBeforeNote('')
    },
  }
}
