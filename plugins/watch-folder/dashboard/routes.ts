import { answerComparison, answerMedia } from './comparison-routes.js'
import type { DashboardExchange } from './dashboard-exchange.js'
import { examineReadiness } from './health.js'
import { answerJob, answerJobs, answerReceipt, answerReport, answerRetry } from './job-routes.js'
import { sendError, sendJson, sendText } from './respond.js'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly pattern: RegExp
  readonly answer: (exchange: DashboardExchange) => void | Promise<void>
}

const JOB = '/api/jobs/(?<id>[0-9A-Za-z_-]{1,64})'

/** All routes. No GET changes the state of a job. */
export const ROUTES: readonly Route[] = [
  { method: 'GET', pattern: /^\/$/, answer: answerPage },
  { method: 'GET', pattern: /^\/assets\/(?<name>[a-z-]+\.(?:css|js|svg))$/, answer: answerAsset },
  { method: 'GET', pattern: /^\/events$/, answer: answerEvents },
  { method: 'GET', pattern: /^\/healthz$/, answer: ({ response }) => sendJson(response, 200, { status: 'ok' }) },
  { method: 'GET', pattern: /^\/readyz$/, answer: answerReadiness },
  { method: 'GET', pattern: /^\/metrics$/, answer: answerMetrics },
  { method: 'GET', pattern: /^\/api\/jobs$/, answer: answerJobs },
  { method: 'GET', pattern: new RegExp(`^${JOB}$`), answer: answerJob },
  { method: 'GET', pattern: new RegExp(`^${JOB}/receipt$`), answer: answerReceipt },
  { method: 'GET', pattern: new RegExp(`^${JOB}/report$`), answer: answerReport },
  { method: 'GET', pattern: new RegExp(`^${JOB}/comparison$`), answer: answerComparison },
  {
    method: 'GET',
    pattern: new RegExp(
      `^${JOB}/comparison/(?<index>\\d{1,3})/(?<side>before|after)/(?<kind>audio|waveform|spectrogram)$`,
    ),
    answer: answerMedia,
  },
  { method: 'POST', pattern: new RegExp(`^${JOB}/retry$`), answer: answerRetry },
]

/** The page with the token of this start. A person who may read the page may use its buttons. */
function answerPage({ response, files, token }: DashboardExchange): void {
  const page = files.get('index.html')
  if (page) sendText(response, 200, page.type, page.text.replace('{{token}}', token))
}

function answerAsset({ response, files, groups }: DashboardExchange): void {
  const file = files.get(groups.name ?? '')
  if (file) {
    response.setHeader('cache-control', 'no-cache')
    sendText(response, 200, file.type, file.text)
  } else sendError(response, 404, 'This file does not exist.')
}

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
