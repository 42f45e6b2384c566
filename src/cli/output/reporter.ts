import { basename } from 'node:path'
import { type Logger, silentLogger } from '../../core/logger.js'
import { type FileEvent, type JobEvent, type ProgressEvent, STAGES, type Stage } from '../../pipeline/events.js'
import { type FileLine, fileLine } from './file-line.js'
import type { Output } from './output.js'
import { fitCells, ProgressBars } from './progress-bars.js'
import { colorsOf } from './wording.js'

/** Share of a job's time that each stage usually takes, in percent, so that the bar moves evenly. */
const SHARES: Readonly<Record<Stage, number>> = {
  probe: 1,
  precheck: 1,
  plan: 1,
  cut: 8,
  upload: 12,
  process: 40,
  download: 8,
  align: 4,
  splice: 8,
  mux: 10,
  verify: 6,
  publish: 1,
}

const STAGE_LABELS: Readonly<Record<Stage, string>> = {
  probe: 'reading',
  precheck: 'checking',
  plan: 'planning',
  cut: 'cutting the voice',
  upload: 'sending the voice',
  process: 'regenerating',
  download: 'receiving the audio',
  align: 'aligning',
  splice: 'splicing',
  mux: 'muxing',
  verify: 'verifying',
  publish: 'publishing',
}

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
      switch (event.event) {
        case 'progress':
          return people.progress(event)
        case 'file':
          return people.file(event)
        default:
          return event satisfies never
      }
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

/** Prints only how each file ended. With `--json` it prints nothing, because the events report it. */
function quiet(output: Output, lineOf: LineOf): People {
  const file = (event: FileEvent) => {
    const line = lineOf(event)
    if (!output.json && line !== null) output.note(line)
  }
  return { progress: () => {}, file, note: output.note, stop: () => {} }
}

/** Prints a line at the start of each stage, for logs. */
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

function bars(output: Output, lineOf: LineOf, total: number): People {
  const painted = new ProgressBars(output.stderr, total)
  return {
    progress: (event) => {
      const { id, input, stage, soundSec } = event
      const [percent, label] = [overallPercent(event), STAGE_LABELS[stage]]
      painted.update(id, { name: basename(input), percent, label, soundSec })
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

/** Progress of the whole job, 0 … 100, from the progress of a stage. */
export function overallPercent({ stage, percent }: Pick<ProgressEvent, 'stage' | 'percent'>): number {
  const before = STAGES.slice(0, STAGES.indexOf(stage)).reduce((sum, earlier) => sum + SHARES[earlier], 0)
  return before + (SHARES[stage] * percent) / 100
}
