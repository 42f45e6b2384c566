import { basename } from 'node:path'
import picocolors from 'picocolors'
import type { FileEvent, JobEvent, ProgressEvent } from '../../pipeline/events.js'
import { type FileLine, fileLine } from './file-line.js'
import type { Output } from './output.js'
import { overallPercent, STAGE_LABELS } from './overall-progress.js'
import { fitCells, ProgressBars } from './progress-bars.js'

/** As `--progress` says: bars in a terminal and lines elsewhere, lines, or nothing. */
export type ProgressStyle = 'auto' | 'plain' | 'none'

/** Tells programs and people how the work goes. */
export interface Reporter {
  /** An event of a job: as it is for programs, in words for people. */
  readonly report: (event: JobEvent) => void
  /** A line for people that stays, also while bars are shown. */
  readonly note: (text: string) => void
  /** Takes the bars away: before the summary, and after any end. */
  readonly stop: () => void
}

interface People {
  readonly progress: (event: ProgressEvent) => void
  readonly file: (event: FileEvent) => void
  readonly note: (text: string) => void
  readonly stop: () => void
}

/** Opens the reporter of a command that works on files. @param line the words for how a file ended */
export function createReporter(output: Output, style: ProgressStyle = 'auto', line: FileLine = fileLine): Reporter {
  const people = peopleReporter(output, style, (event) => line(event, colorsOf(output), process.cwd()))
  return {
    report: (event) => {
      output.event(event)
      switch (event.event) {
        case 'progress':
          return people.progress(event)
        case 'file':
          return people.file(event)
        default:
          return event satisfies never
      }
    },
    note: people.note,
    stop: people.stop,
  }
}

type LineOf = (event: FileEvent) => string | null

function peopleReporter(output: Output, style: ProgressStyle, lineOf: LineOf): People {
  const isTerminal = output.stderr.isTTY === true
  // With --json in a terminal, bars and events would be painted over each other.
  if (style === 'none' || (style === 'auto' && output.json)) return quiet(output, lineOf)
  return style === 'auto' && isTerminal ? bars(output, lineOf) : plain(output, lineOf)
}

/** Only how each file ended, and with `--json` not even that: the events say it. */
function quiet(output: Output, lineOf: LineOf): People {
  const file = (event: FileEvent) => {
    const line = lineOf(event)
    if (!output.json && line !== null) output.note(line)
  }
  return { progress: () => {}, file, note: output.note, stop: () => {} }
}

/** A line when a stage begins: for logs. */
function plain(output: Output, lineOf: LineOf): People {
  const stages = new Map<string, string>()
  return {
    progress: ({ id, input, stage }) => {
      if (stages.get(id) === stage) return
      stages.set(id, stage)
      output.note(`${fitCells(basename(input), 120)}: ${STAGE_LABELS[stage]}`)
    },
    file: (event) => {
      const line = lineOf(event)
      if (line !== null) output.note(line)
    },
    note: output.note,
    stop: () => {},
  }
}

function bars(output: Output, lineOf: LineOf): People {
  const painted = new ProgressBars(output.stderr)
  return {
    progress: (event) => {
      const { id, input, stage } = event
      painted.update(id, { name: basename(input), percent: overallPercent(event), label: STAGE_LABELS[stage] })
    },
    file: (event) => {
      painted.remove(event.id)
      const line = lineOf(event)
      if (line !== null) painted.write(line)
    },
    note: (text) => painted.write(text),
    stop: () => painted.stop(),
  }
}

function colorsOf({ stderr }: Output) {
  return picocolors.createColors(stderr.isTTY === true && picocolors.isColorSupported)
}
