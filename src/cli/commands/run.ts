import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { Config } from '../../config/index.js'
import { type ExitCode, UsageError } from '../../core/errors.js'
import { sortableId } from '../../ledger/index.js'
import type { JobOutcome } from '../../pipeline/job/job-outcome.js'
import { exitCodeOf, runJobs } from '../../pipeline/job/run-jobs.js'
import { expandInputs } from '../../pipeline/plan/expand-inputs.js'
import { namesFolder, reportPath } from '../../pipeline/plan/output-path.js'
import { requireOwnOutputs } from '../../pipeline/plan/own-outputs.js'
import type { PlanRequest } from '../../pipeline/plan/plan-job.js'
import { isWebAddress } from '../../pipeline/web-address.js'
import { flagsOf, RUN_OPTIONS, type RunArguments, withOptions } from '../arguments/run-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { commandRuntime } from '../command-runtime.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { type FileLine, fileLine } from '../output/file-line.js'
import { createReporter } from '../output/reporter.js'
import { summary } from '../output/summary.js'
import { openPipes, type Pipes } from '../pipes.js'
import { requireOutputFolder } from '../require-output-folder.js'
import { askChoices } from '../terminal/ask-choices.js'
import { canAsk, openQuestions, type Questions } from '../terminal/questions.js'

/** `voxmux run <input…>`, and `voxmux <input…>` */
export const command = defineCommand({
  positionals: '<input..>',
  examples: [
    ['clip.mov', 'regenerate the voice and save clip.regen.mov beside it'],
    ['interview.mp4 --dry-run', 'show the plan and the price, send nothing'],
    ['talk.mkv --segment 1:02-1:30 --segment 5:00-', 'regenerate two parts; the rest stays bit for bit'],
    ['film.mov --track lang:eng --channels center', 'only the centre channel of the English 5.1 track'],
    ['- -o - --format wav', 'read a file from stdin, and write it to stdout'],
    ['*.wav -o finished/ --concurrency 4 --json', 'process many files, with events for a program'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('input', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'Files, folders, https addresses, or - for stdin',
      }),
      RUN_OPTIONS,
    ),
  run: async (args, context) => {
    const config = await loadConfig(args, flagsOf(args), context)
    const pipes = await openPipes(args, config.stateDir, context)
    const { note, print } = context.output
    const output = {
      ...context.output,
      note: (text: string) => note(pipes.named(text)),
      print: (text: string) => print(pipes.named(text)),
    }
    try {
      const exitCode = await regenerate({ ...args, output: pipes.output }, pipes, config, { ...context, output })
      if (exitCode === 0 && !args['dry-run']) await pipes.deliver()
      return exitCode
    } finally {
      await pipes.close()
    }
  },
})

async function regenerate(
  args: RunArguments,
  pipes: Pipes,
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const { output, signal } = context
  const settings = await jobSettingsOf(config, args, context.cwd)
  const planned = await planRequests(pipes.inputs, args, settings, context)
  const mayAsk = canAsk(output, args['no-input'])
  const requests = mayAsk ? await asked(planned, config, context, pipes.toStdout) : planned
  if (args['dry-run']) {
    const { showPlans } = await import('../show/dry-run.js')
    const isFree = config.service.kind === 'embedded'
    return showPlans(requests, config.limits, context, { verbose: args.verbose, isFree })
  }
  const startedMs = performance.now()
  const reporter = createReporter(output, args.progress, pipeLine(pipes), requests.length)
  await using runtime = await commandRuntime(config, reporter, { signal })
  const { concurrency } = config
  const outcomes = await runJobs(requests, runtime.context, { signal, concurrency, onEvent: reporter.report })
  reporter.stop()
  const text = pipes.toStdout ? '' : summary(outcomes, performance.now() - startedMs)
  if (text) output.note(text)
  if (!pipes.toStdout) await ending(outcomes, args, context)
  const exitCode = exitCodeOf(outcomes)
  output.result({ exitCode, files: outcomes.map(({ event }) => event) })
  return exitCode
}

/** Opens the report if it is asked for. Otherwise tells a person in a terminal what to do next. */
async function ending(outcomes: readonly JobOutcome[], args: RunArguments, { output, env }: CommandContext) {
  const [only] = outcomes
  const made = outcomes.length === 1 ? (only?.event.output ?? null) : null
  if (made === null || output.json) return
  const page = reportPath(made)
  if (args.open) {
    const { openPage } = await import('../terminal/open-page.js')
    if (!existsSync(page) || !(await openPage(page, env)))
      output.note(`The report could not be opened. Open ${page} in a browser.`)
  } else if (output.stderr.isTTY === true)
    output.note(
      args.preview === undefined
        ? 'Next: repeat the command with --open to hear before and after. Nothing is paid again.'
        : 'Next: repeat the command without --preview to regenerate the whole file.',
    )
}

function pipeLine({ named }: Pipes): FileLine {
  return (event, colors, cwd) => {
    const { input, output, error } = event
    const worded = error && { ...error, message: named(error.message), remedies: error.remedies.map(named) }
    return fileLine({ ...event, input: named(input), output: output && named(output), error: worded }, colors, cwd)
  }
}

/** Asks about the picture, the tracks and the channels of each file. In a pipe, the job decides instead. */
async function asked(
  requests: readonly PlanRequest[],
  { limits }: Config,
  { signal }: CommandContext,
  toStdout: boolean,
): Promise<readonly PlanRequest[]> {
  let questions: Questions | undefined
  const open = () => {
    questions ??= openQuestions(signal)
    return questions
  }
  const answered: PlanRequest[] = []
  try {
    for (const request of requests) answered.push(await askChoices(request, { limits, signal, toStdout, open }))
  } finally {
    questions?.close()
  }
  return answered
}

async function planRequests(
  typed: readonly string[],
  args: RunArguments,
  settings: PlanRequest['settings'],
  { cwd }: CommandContext,
): Promise<readonly PlanRequest[]> {
  const inputs = await expandInputs(typed, cwd)
  const wanted = args.output === undefined ? undefined : folderMeant(args.output, cwd)
  if (wanted !== undefined) await requireOutputFolder(wanted, cwd)
  if (inputs.length > 1 && wanted !== undefined && !(await namesFolder(wanted, cwd))) {
    throw new UsageError('ERR_OUTPUT_FOR_SEVERAL', `${inputs.length} inputs cannot share one output file, ${wanted}.`, {
      remedies: [`Name a folder: --output ${wanted}/`],
    })
  }
  const remote = args.remote ?? false
  const local = inputs.find((input) => remote && !isWebAddress(input))
  if (local !== undefined) {
    throw new UsageError('ERR_REMOTE_LOCAL', `--remote needs https addresses, and ${local} is a local file.`, {
      input: local,
      remedies: ['Leave out --remote: voxmux then sends only the voice.'],
    })
  }
  const common = { output: wanted, cwd, group: 'run', settings, remote }
  const requests = inputs.map((input) => ({ provisionalId: sortableId(), input, ...common }))
  await requireOwnOutputs(requests)
  return requests
}

/** Reads a name without an extension as a folder, unless it exists: no player opens a film that is called `newd`. */
function folderMeant(output: string, cwd: string): string {
  return extname(output) !== '' || existsSync(resolve(cwd, output)) ? output : `${output}/`
}
