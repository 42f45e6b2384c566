import { VoxmuxError } from '../../../src/core/errors.js'
import type { Route } from '../../../src/pages/page-server.js'
import { sendError, sendJson, sendText } from '../../../src/pages/respond.js'
import { sendFile } from '../../../src/pages/send-file.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import type { Comparison } from '../../../src/pipeline/report/comparison.js'
import { addressed, COMPARISON_FILE, fileOf } from '../../../src/pipeline/report/comparison-files.js'
import type { DashboardExchange, DashboardParts } from './dashboard-exchange.js'
import { examineReadiness } from './health.js'
import {
  answerForget,
  answerJob,
  answerJobs,
  answerOutput,
  answerPause,
  answerReceipt,
  answerReport,
  answerRetry,
  jobOfRoute,
} from './job-routes.js'

const JOB = '/api/jobs/(?<id>[0-9A-Za-z_-]{1,64})'

/** All routes besides the page. No GET changes the state of a job. */
export const ROUTES: readonly Route<DashboardParts>[] = [
  { method: 'GET', pattern: /^\/events$/, answer: answerEvents },
  { method: 'GET', pattern: /^\/healthz$/, answer: ({ response }) => sendJson(response, 200, { status: 'ok' }) },
  { method: 'GET', pattern: /^\/readyz$/, answer: answerReadiness },
  { method: 'GET', pattern: /^\/metrics$/, answer: answerMetrics },
  { method: 'GET', pattern: /^\/api\/jobs$/, answer: answerJobs },
  { method: 'GET', pattern: new RegExp(`^${JOB}$`), answer: answerJob },
  { method: 'GET', pattern: new RegExp(`^${JOB}/receipt$`), answer: answerReceipt },
  { method: 'GET', pattern: new RegExp(`^${JOB}/report$`), answer: answerReport },
  { method: 'GET', pattern: new RegExp(`^${JOB}/output$`), answer: answerOutput },
  { method: 'POST', pattern: /^\/api\/folders\/(?<action>pause|resume)$/, answer: answerPause },
  { method: 'GET', pattern: new RegExp(`^${JOB}/comparison$`), answer: answerComparison },
  { method: 'GET', pattern: new RegExp(`^${JOB}/comparison/${COMPARISON_FILE}$`), answer: answerMedia },
  { method: 'POST', pattern: new RegExp(`^${JOB}/retry$`), answer: answerRetry },
  { method: 'POST', pattern: new RegExp(`^${JOB}/forget$`), answer: answerForget },
]

async function answerEvents({ request, response, feed }: DashboardExchange): Promise<void> {
  if (request.method === 'HEAD') return sendText(response, 200, 'text/event-stream; charset=utf-8', '')
  const taken = await feed.connect(response)
  if (taken) return
  // Refused connections that stay open would use up the server's connections and block the health checks.
  response.setHeader('connection', 'close')
  sendError(response, 503, 'Too many pages are open already.')
}

async function answerReadiness({ view, response }: DashboardExchange): Promise<void> {
  const checks = await examineReadiness(view)
  const isReady = checks.every(({ ok }) => ok)
  sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks })
}

async function answerMetrics({ response, metrics }: DashboardExchange): Promise<void> {
  sendText(response, 200, metrics.contentType, await metrics.metrics())
}

/** `GET /api/jobs/ID/comparison`: the players and pictures of each regenerated track, built at the first request. */
async function answerComparison(exchange: DashboardExchange): Promise<void> {
  const found = await comparisonsOf(exchange)
  if (!found) return
  sendJson(exchange.response, 200, { tracks: addressed(found, `/api/jobs/${exchange.groups.id}/comparison`) })
}

/** `GET /api/jobs/ID/comparison/N/before|after/audio|waveform|spectrogram` */
async function answerMedia(exchange: DashboardExchange): Promise<void> {
  const { groups, request, response } = exchange
  const found = await comparisonsOf(exchange)
  if (!found) return
  const file = fileOf(found, groups)
  if (!file) return sendError(response, 404, 'This track does not exist.')
  await sendFile(request, response, file.path, file.type)
}

/** The comparison of the job in the address. Sends the error and returns null if there is none. */
async function comparisonsOf(exchange: DashboardExchange): Promise<readonly Comparison[] | null> {
  const { view, comparisons, response } = exchange
  const job = await jobOfRoute(exchange)
  if (!job) return null
  const receipt = job.receipt === null ? undefined : await readReceipt(job.receipt)
  if (!receipt || job.output === null) {
    sendError(response, 404, 'This job has no receipt, so there is nothing to compare.')
    return null
  }
  try {
    return await comparisons.get({ id: job.id, sources: view.sourcesOf(job), output: job.output, receipt })
  } catch (fault) {
    if (!(fault instanceof VoxmuxError)) throw fault
    sendError(response, 409, fault.message)
    return null
  }
}
