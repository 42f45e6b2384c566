import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { silentLogger } from '../../core/logger.js'
import { sortableId } from '../../jobs/index.js'
import { expandInputs, isWebAddress } from '../../pipeline/expand-inputs.js'
import type { PlanRequest } from '../../pipeline/plan-job.js'
import { exitCodeOf, runJobs } from '../../pipeline/run-jobs.js'
import { openPipelineWithPlugins } from '../../plugin-contract/index.js'
import { type CommandContext, defineCommand } from '../command.js'
import { startEmbedded } from '../embedded-service.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { createReporter } from '../output/reporter.js'
import { summary } from '../output/summary.js'
import { flagsOf, RUN_OPTIONS, type RunArguments, withOptions } from '../run-options.js'

/** `voxmux run <input…>`, and `voxmux <input…>` */
export const command = defineCommand({
  positionals: '<input..>',
  examples: [
    ['clip.mov', 'regenerate the voice; clip.regen.mov appears beside it'],
    ['interview.mp4 --dry-run', 'show what would be done and paid for'],
    ['talk.mkv --segment 1:02-1:30 --segment 5:00-', 'regenerate two parts, the rest stays bit for bit'],
    ['film.mov --track lang:eng --channels center', 'the centre channel of the English 5.1 track alone'],
    ['*.wav -o finished/ --concurrency 4 --json', 'many files, with events for a program'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('input', {
        type: 'string',
        array: true,
        demandOption: true,
        describe: 'Files, folders or https addresses',
      }),
      RUN_OPTIONS,
    ),
  run: async (args, context) => {
    const { output, signal } = context
    const config = await loadConfig(args, flagsOf(args), context)
    const settings = await jobSettingsOf(config, args, context.cwd)
    const requests = await planRequests(args.input, args, settings, context)
    if (args['dry-run']) {
      const { showPlans } = await import('../dry-run.js')
      return showPlans(requests, config.limits, context)
    }
    const reporter = createReporter(output, args.progress)
    const pipeline = await openPipelineWithPlugins(config, {
      signal,
      logger: { ...silentLogger, warn: (_fields, message) => reporter.note(`! ${message}`) },
      startEmbedded: (dataDir) => {
        reporter.note('No service is configured: the embedded one works, on this machine.')
        return startEmbedded(dataDir)
      },
    })
    try {
      const { concurrency } = config
      const outcomes = await runJobs(requests, pipeline.context, { signal, concurrency, onEvent: reporter.report })
      reporter.stop()
      const text = summary(outcomes)
      if (text) output.note(text)
      const exitCode = exitCodeOf(outcomes)
      output.result({ exitCode, files: outcomes.map(({ event }) => event) })
      return exitCode
    } finally {
      reporter.stop()
      await pipeline.close()
    }
  },
})

async function planRequests(
  typed: readonly string[],
  args: RunArguments,
  settings: PlanRequest['settings'],
  { cwd }: CommandContext,
): Promise<readonly PlanRequest[]> {
  const inputs = await expandInputs(typed, cwd)
  const wanted = args.output
  if (inputs.length > 1 && wanted !== undefined && !/[/\\]$/.test(wanted) && !(await isFolder(resolve(cwd, wanted)))) {
    throw new UsageError('ERR_OUTPUT_FOR_SEVERAL', `${wanted} cannot be the output of ${inputs.length} inputs.`, {
      remedies: [`Name a folder: --output ${wanted}/`],
    })
  }
  const remote = args.remote ?? false
  const local = inputs.find((input) => remote && !isWebAddress(input))
  if (local !== undefined) {
    throw new UsageError(
      'ERR_REMOTE_LOCAL',
      `--remote is for https addresses, and ${local} is a file of this machine.`,
      {
        input: local,
        remedies: ['Leave --remote out: only the voice is sent.'],
      },
    )
  }
  const common = { output: wanted, cwd, group: 'run', settings, remote }
  return inputs.map((input) => ({ provisionalId: sortableId(), input, ...common }))
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
