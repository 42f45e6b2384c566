import type { Route } from '../../../src/pages/page-server.js'
import { sendError, sendJson, sendText } from '../../../src/pages/respond.js'
import { COMPARISON_FILE } from '../../../src/pipeline/report/comparison-files.js'
import { sendComparedFile, sendComparison } from '../../../src/pipeline/report/send-comparison.js'
import type { DashboardExchange, DashboardParts } from './dashboard-exchange.js'
import { examineReadiness } from './examine-readiness.js'
import {
  answerForget,
  answerJob,
  answerJobs,
  answerOutput,
  answerPause,
  answerReceipt,
  answerReport,
  answerRetry,
  publishedJob,
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

/** `GET /api/jobs/ID/comparison` */
async function answerComparison(exchange: DashboardExchange): Promise<void> {
  const job = await comparedJob(exchange)
  if (job) await sendComparison(exchange, job, `/api/jobs/${exchange.groups.id}/comparison`)
}

/** `GET /api/jobs/ID/comparison/N/before|after/audio|waveform|spectrogram` */
async function answerMedia(exchange: DashboardExchange): Promise<void> {
  const job = await comparedJob(exchange)
  if (job) await sendComparedFile(exchange, job)
}

async function comparedJob(exchange: DashboardExchange) {
  const job = await publishedJob(exchange)
  return job && { ...job, sources: exchange.view.sourcesOf(job) }
}
