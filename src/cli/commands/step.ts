import { resolve } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import { thrownMessage, UsageError } from '../../core/errors.js'
import { readNamedFile } from '../../core/read-plain-file.js'
import { unreadableFile } from '../../core/unreadable-file.js'
import { exitCodeOf } from '../../pipeline/job/run-jobs.js'
import { jobRequestJsonSchema } from '../../pipeline/queue/job-request.js'
import { number, toggle } from '../arguments/option.js'
import { CONFIG_OPTIONS, flagsOf, OUTPUT_OPTIONS, RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { besideEvents, fileLine } from '../output/file-line.js'
import { createReporter } from '../output/reporter.js'

const STEP_OPTIONS = {
  wait: number(
    'Seconds to wait, then exit 3; the same command collects the result later (0: submit only)',
    'Processing:',
  ),
  concurrency: { ...RUN_OPTIONS.concurrency, describe: 'Jobs at the same time (default: 2)' },
  schema: toggle('Print the JSON Schema of a job', 'Output:'),
  ...CONFIG_OPTIONS,
  ledger: RUN_OPTIONS.ledger,
  store: RUN_OPTIONS.store,
  progress: OUTPUT_OPTIONS.progress,
  json: toggle('Always on: print events as JSON lines on stdout', 'Output:'),
} as const

/** `voxmux step [job.json | -]` */
export const command = defineCommand({
  positionals: '[job]',
  examples: [
    ['job.json', 'run the job (or the list of jobs) in a file'],
    ['- < job.json', 'read the job from stdin'],
    ['job.json --wait 0', 'submit it and exit; run the same command again to collect'],
    ['--schema', 'print the JSON Schema of a job'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('job', { type: 'string', describe: 'JSON file with a job or a list of jobs; - for stdin' }),
      STEP_OPTIONS,
    ),
  run: async (args, context) => {
    const { cwd, env, signal, output } = context
    if (args.schema) {
      process.stdout.write(`${JSON.stringify(jobRequestJsonSchema(), null, 2)}\n`)
      return 0
    }
    const jobs = await readJobs(args.job, context)
    const { runRequests } = await import('../../runtime/run-requests.js')
    const reporter = createReporter(output, args.progress, besideEvents(args.progress, fileLine))
    try {
      const outcomes = await runRequests(Array.isArray(jobs) ? jobs : [jobs], {
        ...{ cwd, env, signal, config: args.config, settings: flagsOf(args), waitSec: waitSecOf(args.wait) },
        // The process ends with the command and does not wait for open handles.
        lingerMs: 0,
        logger: { ...reporter.logger, info: (_fields, message) => reporter.note(message) },
        onEvent: reporter.report,
      })
      const exitCode = exitCodeOf(outcomes)
      output.result({ exitCode, files: outcomes.map(({ event }) => event) })
      return exitCode
    } finally {
      reporter.stop()
    }
  },
})

async function readJobs(job: string | undefined, { cwd, signal }: CommandContext): Promise<unknown> {
  const isNamed = job !== undefined && job !== '-'
  const isStdin = job === '-' || (!isNamed && !process.stdin.isTTY)
  if (!isNamed && !isStdin) {
    throw new UsageError('ERR_USAGE', 'Which job? Name its file, or - to read it from stdin.', {
      remedies: ['`voxmux step --schema` prints the JSON Schema of a job, and `voxmux step --help` shows examples.'],
    })
  }
  const source = isStdin ? 'stdin' : resolve(cwd, job as string)
  const content = isStdin ? await text(addAbortSignal(signal, process.stdin)) : await readJobFile(source)
  if (content.trim() === '') throw unreadable(source, 'it is empty')
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw unreadable(source, thrownMessage(cause), cause)
  }
}

function readJobFile(path: string): Promise<string> {
  return readNamedFile(path).catch((cause: unknown) => {
    throw unreadableFile('ERR_JOB_REQUEST', path, cause, [
      'To give the job itself, write it to stdin of `voxmux step -`.',
    ])
  })
}

function unreadable(source: string, why: string, cause?: unknown): UsageError {
  return new UsageError('ERR_JOB_REQUEST', `The job in ${source} cannot be read: ${why}.`, {
    cause,
    input: source,
    remedies: ['Write a JSON object such as {"input":"take.wav"}, or a list of them. See `voxmux step --schema`.'],
  })
}

function waitSecOf(wait: number | undefined): number | undefined {
  if (wait === undefined || wait >= 0) return wait
  throw new UsageError('ERR_USAGE', '--wait takes a number of seconds, 0 or more, such as 30.')
}
