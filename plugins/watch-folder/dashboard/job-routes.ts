import { basename, dirname } from 'node:path'
import type { Job } from '../../../src/ledger/index.js'
import { SANDBOX_POLICY, sendError, sendJson } from '../../../src/pages/respond.js'
import { sendFile } from '../../../src/pages/send-file.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { reportPath } from '../../../src/pipeline/plan/output-path.js'
import { linkOut } from '../folders/require-inside.js'
import type { DashboardExchange } from './dashboard-exchange.js'
import { isListName, jobView, LISTS } from './job-view.js'
import { ownJobs } from './shown-jobs.js'

const PAGE_LENGTH = 50
const LONGEST_PAGE = 200

/**
 * `GET /api/jobs?list=failed&before=ID&limit=50&search=TEXT`: a page of jobs, newest first, and whether more follow. They
 * are of this daemon's folders, of `group`, or with `all=1` of the whole store.
 */
export async function answerJobs({ view, query, response }: DashboardExchange): Promise<void> {
  const list = query.get('list') ?? ''
  if (!isListName(list)) return sendError(response, 400, `list is one of ${Object.keys(LISTS).join(', ')}.`)
  const limit = Math.min(LONGEST_PAGE, Math.max(1, Math.trunc(Number(query.get('limit'))) || PAGE_LENGTH))
  const group = query.get('group') ?? undefined
  const filter = {
    statuses: LISTS[list],
    limit: limit + 1,
    before: query.get('before') ?? undefined,
    inputPart: query.get('search') || undefined,
  }
  const isOfAll = group !== undefined || query.has('all')
  const found = await (isOfAll ? view.jobs.list({ ...filter, group }) : ownJobs(view, filter))
  sendJson(response, 200, { jobs: found.slice(0, limit).map((job) => jobView(job)), hasMore: found.length > limit })
}

/** `GET /api/jobs/ID`: a job and its receipt; null if there is no readable one. */
export async function answerJob(exchange: DashboardExchange): Promise<void> {
  const job = await jobOfRoute(exchange)
  if (!job) return
  const receipt = job.receipt === null ? undefined : await readReceipt(job.receipt)
  sendJson(exchange.response, 200, { job: jobView(job, exchange.progress.get(job.id)), receipt: receipt ?? null })
}

/** `GET /api/jobs/ID/receipt`: the receipt beside the output. */
export async function answerReceipt(exchange: DashboardExchange): Promise<void> {
  const job = await publishedJob(exchange)
  if (!job) return
  if (job.receipt === null) return sendError(exchange.response, 404, 'This job has no receipt.')
  await sendFile(exchange.request, exchange.response, job.receipt, 'application/json; charset=utf-8')
}

/** `GET /api/jobs/ID/report`: the page that `--report` wrote beside the output. */
export async function answerReport(exchange: DashboardExchange): Promise<void> {
  const job = await publishedJob(exchange)
  if (!job) return
  const receipt = job.receipt === null ? undefined : await readReceipt(job.receipt)
  if (!receipt?.report || job.output === null) return sendError(exchange.response, 404, 'This job has no report.')
  exchange.response.setHeader('content-security-policy', SANDBOX_POLICY)
  // The path comes from the job's own output, because anyone can write a path into a receipt.
  await sendFile(exchange.request, exchange.response, reportPath(job.output), 'text/html; charset=utf-8')
}

/** `GET /api/jobs/ID/output`: the output, to be saved. */
export async function answerOutput(exchange: DashboardExchange): Promise<void> {
  const job = await publishedJob(exchange)
  if (!job) return
  const { request, response } = exchange
  const isPublished = job.status === 'done' || job.status === 'skipped'
  if (!isPublished || job.output === null) return sendError(response, 404, 'This job has no output.')
  const name = encodeURIComponent(basename(job.output))
  response.setHeader('content-disposition', `attachment; filename*=UTF-8''${name}`)
  await sendFile(request, response, job.output, 'application/octet-stream')
}

/** `POST /api/folders/pause?group=G` and `resume`: new jobs of a folder of this daemon wait, or go on. */
export async function answerPause({ view, query, groups, response }: DashboardExchange): Promise<void> {
  const folder = view.daemon.folders.find(({ group }) => group === query.get('group'))
  if (!folder) return sendError(response, 404, 'This folder is not watched.')
  await view.setPaused(folder.group, groups.action === 'pause')
  sendJson(response, 200, {})
}

/** `POST /api/jobs/ID/retry`: queues an ended job again. */
export async function answerRetry(exchange: DashboardExchange): Promise<void> {
  const job = await jobOfRoute(exchange)
  if (job) sendJson(exchange.response, 200, { job: jobView(await exchange.view.retry(job)) })
}

/** `POST /api/jobs/ID/forget`: removes a failed job. */
export async function answerForget(exchange: DashboardExchange): Promise<void> {
  const job = await jobOfRoute(exchange)
  if (!job) return
  const { response, view } = exchange
  if (!LISTS.failed.some((status) => status === job.status))
    return sendError(response, 409, 'Only failed jobs can be forgotten here.')
  if (!(await view.forget(job))) return sendError(response, 409, 'The job runs again. Wait until it ends.')
  sendJson(response, 200, {})
}

/** The job in the address. Responds with 404 and returns null if there is none. */
async function jobOfRoute({ view, groups, response }: DashboardExchange): Promise<Job | null> {
  const job = await view.jobs.get(groups.id ?? '')
  if (!job) sendError(response, 404, 'This job does not exist.')
  return job
}

/** The same for what lies beside its output: a folder that was replaced with a link shows nothing from behind the link. */
export async function publishedJob(exchange: DashboardExchange): Promise<Job | null> {
  const job = await jobOfRoute(exchange)
  if (job?.output == null) return job
  const folder = exchange.view.daemon.folders.find(({ group }) => group === job.group)
  const reason = folder ? await linkOut(folder.out, dirname(job.output)) : null
  if (reason === null) return job
  sendError(exchange.response, 409, reason)
  return null
}
