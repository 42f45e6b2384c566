import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { type Config, type Flags, resolveConfig } from '../../config/resolve-config.js'
import { type ExitCode, UsageError } from '../../core/errors.js'
import { DAY_MS } from '../../core/time.js'
import { visibleText } from '../../core/visible-text.js'
import { JOB_STATUSES, type Job, type JobStatus, type JobStore } from '../../ledger/index.js'
import { openStore } from '../../pipeline/job/open-store.js'
import type { JobSettings } from '../../pipeline/plan/job-settings.js'
import { queuedRecordOf, shownJob } from '../../pipeline/queue/queued-file.js'
import { jobHeld, notQueued, retryJob } from '../../pipeline/queue/retry-job.js'
import { isWebAddress, shownInput } from '../../pipeline/web-address.js'
import { number, someOf, text } from '../arguments/option.js'
import { flagsOf, RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { moveLedger } from '../move-ledger.js'
import { jobDetails, jobLines, jobTable } from '../show/describe-job.js'

/** Jobs that are read at a time: the state of each takes kilobytes. */
const PAGE = 500

const ACTIONS = ['list', 'show', 'retry', 'forget', 'export', 'import'] as const
type JobAction = 'show' | 'retry' | 'forget'

/** `voxmux jobs list|show|retry|forget|export|import` */
export const command = defineCommand({
  positionals: '<action> [job..]',
  examples: [
    ['list --status failed --status rejected', 'list the newest jobs that failed or were refused'],
    ['show clip.mov', 'show the newest job of this input; --json prints its whole state'],
    ['retry 01JD…', 'queue a job again; a worker or its watch folder processes it'],
    ['retry clip.mov --force', 'process it again and replace its output'],
    ['forget clip.mov', 'forget that it was done; the next run processes it again'],
    ['export ledger.ndjson', 'write the whole ledger to a new file'],
    ['import ledger.ndjson --store postgres://db/voxmux', 'add it to a shared store'],
  ],
  build: (parser) =>
    withOptions(
      parser
        .positional('action', { choices: ACTIONS, demandOption: true, describe: 'Action' })
        .positional('job', { type: 'string', array: true, describe: 'Job ids or input paths; export, import: a file' }),
      {
        status: someOf(JOB_STATUSES, 'list: only jobs in this state (repeatable)'),
        group: text('list: only this group, such as a watched folder'),
        force: {
          type: 'boolean',
          default: false,
          describe: 'retry: process finished jobs again and replace their outputs',
        },
        limit: { type: 'number', default: 20, requiresArg: true, describe: 'list: show at most N jobs' },
        'ended-days': number('forget: jobs that ended at least N days ago'),
        ledger: RUN_OPTIONS.ledger,
        store: RUN_OPTIONS.store,
        config: RUN_OPTIONS.config,
        json: RUN_OPTIONS.json,
      },
    ),
  run: async (args, context) => {
    const flags = flagsOf({ ledger: args.ledger, store: args.store })
    const config = await loadConfig(args, flags, context)
    if (args.ledger !== undefined && args.action !== 'import') requireLedger(config)
    const ledger = await openStore(config)
    try {
      if (args.action === 'list') return await list(ledger.jobs, args, context)
      if (args.action === 'export' || args.action === 'import')
        return await moveLedger(ledger, args.action, args.job, context)
      const days = args['ended-days']
      if (args.action === 'forget' && days !== undefined) return await forgetEnded(ledger.jobs, days, context)
      const settingsOf = (job: Job) => folderSettings(job, config, { flags, config: args.config }, context)
      return await eachJob(ledger.jobs, args.action, { ...args, settingsOf }, context)
    } finally {
      await ledger.close()
    }
  },
})

/** Refuses a mistyped --ledger: an empty one would be created and listed. */
function requireLedger({ ledger }: Config): void {
  if (ledger === null || existsSync(ledger)) return
  const remedies = ['Check the spelling of --ledger. Without it, the ledger in the state folder is used.']
  throw new UsageError('ERR_USAGE', `The ledger ${ledger} does not exist.`, { remedies })
}

/** The jobs to list: those of any state and group if none is named. */
interface ListedJobs {
  readonly status?: readonly JobStatus[] | undefined
  readonly group?: string | undefined
  readonly limit: number
}

async function list(
  jobs: JobStore,
  { status: statuses, group, limit }: ListedJobs,
  { output }: CommandContext,
): Promise<ExitCode> {
  if (!Number.isInteger(limit) || limit < 1) throw wrongNumber('limit', 'a whole number from 1', limit)
  let shown = 0
  let before: string | undefined
  while (shown < limit) {
    const page = await jobs.list({ statuses, group, before, limit: Math.min(PAGE, limit - shown) })
    for (const job of page) output.event(jobEvent(job))
    if (page.length > 0) output.print((shown === 0 ? jobTable : jobLines)(page, Date.now()))
    await output.flush()
    shown += page.length
    before = page.at(-1)?.id
    if (page.length < PAGE) break
  }
  const isFull = shown > 0 && shown === limit
  if (isFull && (await jobs.list({ statuses, group, before, limit: 1 })).length > 0)
    output.note(`These are the newest ${limit}. To see more, use --limit.`)
  for (const { group, reason } of await jobs.pauses()) {
    if (group === null) output.note(`All jobs are paused: ${reason}`)
    // A folder that was mistyped has no jobs.
    else if ((await jobs.list({ group, limit: 1 })).length > 0) output.note(`${group} is paused: ${reason}`)
  }
  if (shown === 0) output.note('No jobs match.')
  return 0
}

function wrongNumber(flag: string, allowed: string, given: number): UsageError {
  return new UsageError('ERR_USAGE', `--${flag} takes ${allowed}, not ${given}.`)
}

/** Forgets old jobs, so that the ledger or the shared store stays small. Their outputs and receipts stay. */
async function forgetEnded(jobs: JobStore, days: number, { output }: CommandContext): Promise<ExitCode> {
  if (days < 0) throw wrongNumber('ended-days', '0 or more', days)
  const count = await jobs.forgetEnded(Date.now() - days * DAY_MS)
  output.event({ event: 'forgotten', count })
  output.print(`Forgotten: ${count} ${count === 1 ? 'job' : 'jobs'}`)
  return 0
}

async function eachJob(
  jobs: JobStore,
  action: JobAction,
  { job: names = [], force, settingsOf }: { job?: string[] | undefined; force: boolean; settingsOf: SettingsOf },
  { cwd, output }: CommandContext,
): Promise<ExitCode> {
  if (names.length === 0) {
    throw new UsageError(
      'ERR_USAGE',
      `Which job? Name its id or the path of its input: \`voxmux jobs ${action} clip.mov\`.`,
    )
  }
  for (const name of names) {
    const job = await requireJob(jobs, name, cwd)
    const { after, text } = await act(jobs, action, job, { force, settingsOf })
    output.event(jobEvent(after))
    output.print(text)
  }
  return 0
}

type SettingsOf = (job: Job) => Promise<JobSettings | undefined>

/** The present settings of the job's watched folder. Undefined if the configuration does not name it. */
async function folderSettings(
  { group }: Job,
  config: Config,
  { flags, config: configPath }: { readonly flags: Flags; readonly config: string | undefined },
  { cwd, env }: CommandContext,
): Promise<JobSettings | undefined> {
  const folder = config.watch.folders?.find(({ path }) => path === group)
  if (!folder) return undefined
  const { preset } = folder
  const own = preset === undefined ? config : await resolveConfig({ cwd, env, flags: { ...flags, preset }, configPath })
  return jobSettingsOf(own, {}, cwd)
}

async function act(
  jobs: JobStore,
  action: JobAction,
  job: Job,
  { force, settingsOf }: { readonly force: boolean; readonly settingsOf: SettingsOf },
): Promise<{ after: Job; text: string }> {
  switch (action) {
    case 'show':
      return { after: job, text: jobDetails(shownJob(job)) }
    case 'retry': {
      if (!queuedRecordOf(job)) throw notQueued(job)
      const settings = await settingsOf(job)
      const after = await retryJob(jobs, job, { force, settings })
      const how = settings
        ? ` (if it failed: with the current settings of ${job.group}, preset ${settings.preset})`
        : ', with the settings of its first try'
      const text = `Queued again: ${visibleText(after.input)}${how}\n  → It waits for ${visibleText(workersOf(job))}.`
      return { after, text }
    }
    case 'forget':
      if (await jobs.forget(job.id)) return { after: job, text: `Forgotten: ${visibleText(job.input)}` }
      throw jobHeld(job)
    default:
      return action satisfies never
  }
}

/** The processes that take a queued job. None of them needs to be on this machine. */
function workersOf({ group }: Job): string {
  const daemon = isAbsolute(group) ? `the \`voxmux watch\` of ${group} or ` : ''
  return `${daemon}a \`voxmux worker\` with the same ledger or store. Start one if none runs`
}

function jobEvent(job: Job) {
  return { event: 'job', ...shownJob(job) }
}

/** Finds a job by its id, or the newest job of an input. @throws UsageError `ERR_JOB_UNKNOWN` */
async function requireJob(jobs: JobStore, idOrInput: string, cwd: string): Promise<Job> {
  const input = isWebAddress(idOrInput) ? shownInput(idOrInput) : resolve(cwd, idOrInput)
  const found = (await jobs.get(idOrInput)) ?? (await jobs.list({ input, limit: 1 }))[0]
  if (found) return found
  throw new UsageError('ERR_JOB_UNKNOWN', `The ledger has no job "${shownInput(idOrInput)}".`, {
    remedies: ['Name a job by its id or by the path of its input. `voxmux jobs list` shows all jobs.'],
  })
}
