import { VoxmuxError } from '../../../src/core/errors.js'
import { sendError, sendJson } from '../../../src/pages/respond.js'
import { sendFile } from '../../../src/pages/send-file.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import type { Comparison } from '../../../src/pipeline/report/comparison.js'
import { addressed, fileOf } from '../../../src/pipeline/report/comparison-files.js'
import type { DashboardExchange } from './dashboard-exchange.js'
import { jobOfRoute } from './job-routes.js'

/** `GET /api/jobs/ID/comparison`: the players and pictures of each regenerated track, built at the first request. */
export async function answerComparison(exchange: DashboardExchange): Promise<void> {
  const found = await comparisonsOf(exchange)
  if (!found) return
  sendJson(exchange.response, 200, { tracks: addressed(found, `/api/jobs/${exchange.groups.id}/comparison`) })
}

/** `GET /api/jobs/ID/comparison/N/before|after/audio|waveform|spectrogram` */
export async function answerMedia(exchange: DashboardExchange): Promise<void> {
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
