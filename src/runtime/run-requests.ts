import { setMaxListeners } from 'node:events'
import { type Config, type Flags, resolveConfig } from '../config/resolve-config.js'
import { VoxmuxError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import type { PipelineContext } from '../pipeline/context.js'
import type { FileEvent, JobEvent } from '../pipeline/events.js'
import type { JobOutcome } from '../pipeline/job/job-outcome.js'
import type { Pipeline } from '../pipeline/job/open-pipeline.js'
import { runJobs } from '../pipeline/job/run-jobs.js'
import { requireOwnOutputs } from '../pipeline/plan/own-outputs.js'
import {
  flagsOfRequest,
  type JobRequestFile,
  jobRequestSchema,
  planRequestOfJob,
  readJobRequests,
} from '../pipeline/queue/job-request.js'
import { openRuntime } from './open-runtime.js'

/** Options of `runRequests`. */
export interface RunRequestsOptions {
  /** Interrupts the jobs. The same requests later attach to them. */
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  /** Default: silent. */
  readonly logger?: Logger | undefined
  /** Seconds to wait for the service, from the call; default: to the end. 0 submits and leaves. */
  readonly waitSec?: number | undefined
  /** Folder of relative paths; default: the process's. */
  readonly cwd?: string | undefined
  /** Environment of the configuration; default: the process's. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Path of a configuration file, as with `--config`. */
  readonly config?: string | undefined
  /** Group of the jobs; default `step`. Groups take turns. */
  readonly group?: string | undefined
  /** Settings that override files and environment, as flags do. */
  readonly settings?: Flags | undefined
  /** How long the shared runtime stays open for the next call. 0 closes it before this resolves. */
  readonly lingerMs?: number | undefined
}

/** Jobs of scripts take turns with those of watch folders. */
const GROUP = 'step'
/** Jobs at once: as many as one status request covers. The stage slots limit the load on this machine. */
const AT_ONCE = 100

/**
 * Runs jobs that another program wrote, in parallel. Reads all of them and resolves their settings first. If one is
 * wrong, none begins.
 *
 * @returns the outcomes, in the order of the jobs; a job that fails is an outcome
 * @throws {UsageError} for a job, a setting or a configuration that is wrong, and for two jobs with one output
 */
export async function runRequests(
  jobs: readonly unknown[],
  options: RunRequestsOptions,
): Promise<readonly JobOutcome[]> {
  const { cwd = process.cwd(), logger = silentLogger, signal, onEvent, waitSec, lingerMs = LINGER_MS } = options
  const { group = GROUP } = options
  const waitUntilMs = waitSec === undefined ? undefined : Date.now() + waitSec * 1000
  // Every job listens to this signal, so a high number of listeners is not a leak.
  if (signal) setMaxListeners(0, signal)
  const read = readJobRequests(jobs)
  const configs = await Promise.all(read.map((job) => configOf(job, options)))
  for (const note of new Set(configs.flatMap(({ notes }) => notes))) logger.warn({}, note)
  const requests = read.map((job, index) => planRequestOfJob(job, configs[index] as Config, { cwd, group }))
  await requireOwnOutputs(requests).catch((error: unknown) => {
    throw error instanceof VoxmuxError ? inJobWords(error) : error
  })
  const [first] = configs
  if (!first) return []
  const concurrency = first.origins.get('concurrency')?.kind === 'default' ? AT_ONCE : first.concurrency
  return inSharedRuntime(first, logger, lingerMs, async (context) => {
    const report = onEvent && ((event: JobEvent) => onEvent(event.event === 'file' ? withKeys(event) : event))
    const outcomes = await runJobs(requests, context, { signal, onEvent: report, waitUntilMs, concurrency })
    return outcomes.map(({ error, ...outcome }) => ({
      ...outcome,
      event: withKeys(outcome.event),
      error: error && inJobWords(error),
    }))
  })
}

/** The event with the keys of a job in its remedies in place of flags, because a job has no command line. */
function withKeys(event: FileEvent): FileEvent {
  const { error } = event
  return error === null ? event : { ...event, error: { ...error, remedies: error.remedies.map(inKeys) } }
}

function inJobWords(error: VoxmuxError): VoxmuxError {
  return Object.assign(error, { remedies: error.remedies.map(inKeys) })
}

/** A flag, and its value if remedies name one. */
const FLAG = /--([a-z][a-z-]*)(?: (N|all|default|lang:\w+|center|each|downmix|flac|1:02-1:30)\b)?/g

function inKeys(remedy: string): string {
  return remedy.replaceAll(FLAG, (flag, name: string, value?: string) => {
    const camel = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    const key = [camel, `${camel}s`].find((each) => each in jobRequestSchema.shape)
    if (key === undefined) return flag
    return value === undefined ? `\`${key}\`` : `\`"${key}": ${inJson(value)}\``
  })
}

function inJson(value: string): string {
  if (value === 'N') return value
  return value === '1:02-1:30' ? '[{"startSec": 62, "endSec": 90}]' : JSON.stringify(value)
}

/** A job's own settings override everything else, as flags do. */
function configOf(
  job: JobRequestFile,
  { cwd = process.cwd(), env = process.env, config, settings }: RunRequestsOptions,
) {
  return resolveConfig({ cwd, env, configPath: config, flags: { ...settings, ...flagsOfRequest(job) } })
}

/** One runtime that any number of callers use. */
interface Shared {
  readonly runtime: Promise<Pipeline>
  users: number
  closing: NodeJS.Timeout | undefined
}

/** How long a runtime stays open for the next call: a script runs one step after another. */
const LINGER_MS = 250

const open = new Map<string, Shared>()

/**
 * Calls `use` with the runtime of a configuration. The first caller opens it. All callers share it: one token, one
 * status watcher, one transfer pool, one embedded service. It closes after `lingerMs` without a caller. With 0 it closes
 * before this resolves.
 */
async function inSharedRuntime<T>(
  config: Config,
  logger: Logger,
  lingerMs: number,
  use: (context: PipelineContext) => Promise<T>,
): Promise<T> {
  const key = keyOf(config)
  const shared = open.get(key) ?? { runtime: openRuntime(config, { logger }), users: 0, closing: undefined }
  open.set(key, shared)
  shared.users++
  clearTimeout(shared.closing)
  try {
    const { context } = await shared.runtime
    return await use({ ...context, logger })
  } finally {
    shared.users--
    if (shared.users === 0 && lingerMs === 0) await close(key, shared)
    else if (shared.users === 0) shared.closing = setTimeout(() => void close(key, shared), lingerMs)
  }
}

async function close(key: string, { runtime }: Shared): Promise<void> {
  open.delete(key)
  // If the runtime failed to open, its callers have the error already.
  await runtime.then((opened) => opened.close()).catch(() => {})
}

/** A key of all settings of a runtime, without those of a single job and without the origins of values. */
function keyOf({ preset, recipe, outputType, strict, report, chunkSec, concurrency, ...config }: Config): string {
  const { origins, files, notes, limits, ...common } = config
  return JSON.stringify({ ...common, limits: { ...limits, requireVoice: false } })
}
