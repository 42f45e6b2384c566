import { type ExitCode, UsageError } from '../../core/errors.js'
import { JOB_STATUSES, type Job, type JobStatus, type JobStore } from '../../jobs/index.js'
import { openStore } from '../../pipeline/open-store.js'
import { shownJob } from '../../pipeline/queued-order.js'
import { jobHeld, retryJob } from '../../pipeline/retry-job.js'
import { type CommandContext, defineCommand } from '../command.js'
import { jobDetails, jobLine } from '../describe-job.js'
import { findJob } from '../find-job.js'
import { loadConfig } from '../load-config.js'
import { RUN_OPTIONS, withOptions } from '../run-options.js'

const DAY_MS = 24 * 3600 * 1000

const ACTIONS = ['list', 'show', 'retry', 'forget'] as const

/** `voxmux jobs list|show|retry|forget` */
export const command = defineCommand({
  positionals: '<action> [job..]',
  examples: [
    ['list --status failed', 'the newest jobs that failed'],
    ['show clip.mov', 'all that the ledger holds of the newest job of this input'],
    ['retry 01JD…', 'make a job ready again; a worker, or the next run of its input, takes it up'],
    ['retry clip.mov --force', 'have a worker do it again and replace its output'],
    ['forget clip.mov', 'forget that it was done: the next run makes it anew'],
  ],
  build: (parser) =>
    withOptions(
      parser
        .positional('action', { choices: ACTIONS, demandOption: true, describe: 'What to do' })
        .positional('job', { type: 'string', array: true, describe: 'Ids, or paths of inputs' }),
      {
        status: { choices: JOB_STATUSES, requiresArg: true, describe: 'list: only these' },
        group: { type: 'string', requiresArg: true, describe: 'list: only of this group, such as a watched folder' },
        force: { type: 'boolean', default: false, describe: 'retry: do again what is done, and replace its output' },
        limit: { type: 'number', default: 20, requiresArg: true, describe: 'list: at most so many' },
        'ended-days': {
          type: 'number',
          requiresArg: true,
          describe: 'forget: all that ended so many days ago or earlier',
        },
        ledger: RUN_OPTIONS.ledger,
        store: RUN_OPTIONS.store,
        config: RUN_OPTIONS.config,
        json: RUN_OPTIONS.json,
      },
    ),
  run: async (args, context) => {
    const { ledger: file, store } = args
    const flags = { ...(file !== undefined && { ledger: file }), ...(store !== undefined && { store }) }
    const ledger = await openStore(await loadConfig(args, flags, context))
    try {
      if (args.action === 'list') return await list(ledger.jobs, args, context)
      const days = args['ended-days']
      if (args.action === 'forget' && days !== undefined) return await forgetEnded(ledger.jobs, days, context)
      return await eachJob(ledger.jobs, args.action, args, context)
    } finally {
      await ledger.close()
    }
  },
})

async function list(
  jobs: JobStore,
  { status, group, limit }: { status?: JobStatus | undefined; group?: string | undefined; limit: number },
  { output }: CommandContext,
): Promise<ExitCode> {
  const filter = { ...(status !== undefined && { statuses: [status] }), ...(group !== undefined && { group }) }
  const found = await jobs.list({ limit, ...filter })
  for (const job of found) {
    output.event(jobEvent(job))
    output.print(jobLine(job))
  }
  for (const pause of await jobs.pauses())
    output.note(`Nothing is taken${pause.group === null ? '' : ` of ${pause.group}`} at the moment: ${pause.reason}`)
  if (found.length === 0) output.note('The ledger holds no such job.')
  return 0
}

/** What ended long ago: its outputs and receipts stay, and the ledger, or the memory of a store, grows no further. */
async function forgetEnded(jobs: JobStore, days: number, { output }: CommandContext): Promise<ExitCode> {
  const count = await jobs.forgetEnded(Date.now() - days * DAY_MS)
  output.event({ event: 'forgotten', count })
  output.print(`Forgotten: ${count} jobs`)
  return 0
}

async function eachJob(
  jobs: JobStore,
  action: Exclude<(typeof ACTIONS)[number], 'list'>,
  { job: names = [], force }: { job?: string[] | undefined; force: boolean },
  { cwd, output }: CommandContext,
): Promise<ExitCode> {
  if (names.length === 0) {
    throw new UsageError('ERR_USAGE', `Which job? \`voxmux jobs ${action}\` takes ids or paths of inputs.`)
  }
  for (const name of names) {
    const job = await findJob(jobs, name, cwd)
    const { after, text } = await act(jobs, action, job, force)
    output.event(jobEvent(after))
    output.print(text)
  }
  return 0
}

async function act(
  jobs: JobStore,
  action: Exclude<(typeof ACTIONS)[number], 'list'>,
  job: Job,
  force: boolean,
): Promise<{ after: Job; text: string }> {
  switch (action) {
    case 'show':
      return { after: job, text: jobDetails(shownJob(job)) }
    case 'retry': {
      const after = await retryJob(jobs, job, { force })
      return { after, text: `Ready again: ${after.input}` }
    }
    case 'forget':
      if (await jobs.forget(job.id)) return { after: job, text: `Forgotten: ${job.input}` }
      throw jobHeld(job)
    default:
      return action satisfies never
  }
}

function jobEvent(job: Job) {
  return { event: 'job', ...shownJob(job) }
}
