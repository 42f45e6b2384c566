import { setMaxListeners } from 'node:events'
import {
  type Config,
  flagsOfRequest,
  type JobEvent,
  type JobOutcome,
  type JobRequestFile,
  type Logger,
  planRequestOfJob,
  readJobRequests,
  resolveConfig,
  runJobs,
  silentLogger,
} from 'voxmux'
import { requireOwnOutputs } from './require-own-outputs.js'
import { requireStepOptions } from './require-step-options.js'
import { inSharedPipeline, LINGER_MS } from './shared-pipelines.js'
import type { StepOptions } from './step-options.js'

export interface RunStepsOptions extends Omit<StepOptions, 'onProgress'> {
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  /** How long what these steps share with others stays open for the next; 0: it is closed before this resolves. */
  readonly lingerMs?: number | undefined
}

/** Jobs of scripts take turns with those of watch folders. */
const GROUP = 'step'
/** As many at the service at once as one status request asks for; how many are cut or muxed at once is another matter. */
const AT_ONCE = 100

/**
 * Runs steps side by side. All of them are read and their settings resolved first: where one is wrong, none is begun.
 *
 * @returns the outcomes, in the order of the jobs; a job that fails is an outcome
 * @throws UsageError for an option, a job, a setting or a configuration that is wrong, and for two jobs with one output
 */
export async function runSteps(jobs: readonly unknown[], options: RunStepsOptions): Promise<readonly JobOutcome[]> {
  requireStepOptions(options)
  const { cwd = process.cwd(), logger = silentLogger, signal, onEvent, waitSec, lingerMs = LINGER_MS } = options
  const waitUntilMs = waitSec === undefined ? undefined : Date.now() + waitSec * 1000
  // One signal for any number of steps is what it is for, no leak to warn of.
  if (signal) setMaxListeners(0, signal)
  const read = readJobRequests(jobs)
  const configs = await Promise.all(read.map((job) => configOf(job, options)))
  sayNotes(configs, logger)
  const requests = read.map((job, index) => planRequestOfJob(job, configs[index] as Config, { cwd, group: GROUP }))
  await requireOwnOutputs(requests)
  const [first] = configs
  if (!first) return []
  const concurrency = first.origins.get('concurrency')?.kind === 'default' ? AT_ONCE : first.concurrency
  return inSharedPipeline(first, logger, lingerMs, (context) =>
    runJobs(requests, context, { signal, onEvent, waitUntilMs, concurrency }),
  )
}

/** A job's own settings lie over everything else, as flags do. */
function configOf(job: JobRequestFile, { cwd = process.cwd(), env = process.env, config, settings }: StepOptions) {
  return resolveConfig({ cwd, env, configPath: config, flags: { ...settings, ...flagsOfRequest(job) } })
}

function sayNotes(configs: readonly Config[], logger: Logger): void {
  for (const note of new Set(configs.flatMap(({ notes }) => notes))) logger.warn({}, note)
}
