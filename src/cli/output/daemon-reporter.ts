import { basename } from 'node:path'
import pino from 'pino'
import { thrownMessage } from '../../core/errors.js'
import { type Logger, silentLogger } from '../../core/logger.js'
import { redactText } from '../../core/redact.js'
import { visibleJson, visibleText } from '../../core/visible-text.js'
import type { InputStatus, JobEvent } from '../../pipeline/events.js'
import { besideEvents, daemonFileLine, withoutRepeats } from './file-line.js'
import type { Output } from './output.js'
import { createReporter, type ProgressStyle, type Reporter } from './reporter.js'

/** A reporter that also writes the log of a long-running process. */
interface DaemonReporter extends Reporter {
  /** Number of jobs by status since the start. A deferred job counts when it ends. */
  readonly counts: Readonly<Partial<Record<InputStatus, number>>>
}

/** The flags that decide about the log. */
interface DaemonReporterOptions {
  readonly progress?: ProgressStyle | undefined
  /** `auto`: `human` in a terminal or with `progress`, otherwise `json`. */
  readonly log?: 'auto' | 'human' | 'json' | undefined
}

/**
 * Opens the reporter of a daemon. A terminal gets bars and sentences. Elsewhere, as in a service manager's journal,
 * each step is one line of structured log on stderr, with the job's id. With `--json` the events also go to stdout.
 */
export function createDaemonReporter(output: Output, options: DaemonReporterOptions): DaemonReporter {
  const { progress = 'auto', log = 'auto' } = options
  const counts: Partial<Record<InputStatus, number>> = {}
  const isTerminal = output.stderr.isTTY === true
  const isForPeople = log === 'human' || (log === 'auto' && (isTerminal || progress !== 'auto'))
  // A journal for people names the end of each file, not its stages.
  const style = isForPeople && (isTerminal || progress !== 'auto') ? progress : 'none'
  const line = output.json ? besideEvents(style, daemonFileLine) : daemonFileLine
  const people = createReporter(output, style, withoutRepeats(line))
  const logger = isForPeople
    ? notes(people, !output.json)
    : pino(
        { base: null, serializers: { cause: causeText }, hooks: { streamWrite: visibleJson } },
        pino.destination({ dest: 2, sync: true }),
      )
  const report = (event: JobEvent) => {
    if (event.event === 'file' && event.status !== 'pending') counts[event.status] = (counts[event.status] ?? 0) + 1
    if (isForPeople) people.report(event)
    else output.event(event)
  }
  return {
    report,
    note: isForPeople ? people.note : (text) => logger.info({}, text),
    stop: people.stop,
    logger,
    counts,
  }
}

/** Only the message of a cause. Other properties of an error may be secret. */
function causeText(cause: unknown): string | undefined {
  return cause === undefined ? undefined : redactText(thrownMessage(cause))
}

function notes({ note }: Reporter, showsFiles: boolean): Logger {
  const say = (mark: string) => (fields: object, message: string) => {
    // With --json, no file line reports that a file is deferred.
    const line = mark !== '' && !showsFiles ? visibleText(message) : logLine(fields, message)
    if (line === null) return
    note(mark + line)
    const { remedies = [] } = fields as { readonly remedies?: readonly string[] }
    for (const remedy of remedies) note(`    → ${visibleText(remedy)}`)
  }
  return { ...silentLogger, info: say(''), warn: say('! '), error: say('! ') }
}

/** Words a log entry for people. Null for the steps and failures of jobs, which the bars and the file lines show. */
function logLine(fields: object, message: string): string | null {
  const { job, jobs, code, stage, status, group, folder, out, preset, input, to } = fields as Readonly<
    Record<string, unknown>
  >
  if (job !== undefined && [code, stage, status, group, folder].some((field) => field !== undefined)) return null
  if (jobs !== undefined) return null
  if (typeof out === 'string') return visibleText(`${message} ${folder} → ${out} (${preset})`)
  if (typeof to === 'string') return visibleText(`${message} to ${to}`)
  return visibleText(typeof input === 'string' ? `${basename(input)}: ${message}` : message)
}
