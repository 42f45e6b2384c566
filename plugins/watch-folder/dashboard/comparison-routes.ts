import { VoxmuxError } from '../../../src/core/errors.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import type { Comparison } from '../../../src/pipeline/report/comparison.js'
import type { DashboardExchange } from './dashboard-exchange.js'
import { jobOfRoute } from './job-routes.js'
import { sendError, sendJson } from './respond.js'
import { sendFile } from './send-file.js'

const TYPES = { audio: 'audio/mp4', waveform: 'image/png', spectrogram: 'image/png' } as const

/** `GET /api/jobs/ID/comparison`: the players and pictures of each regenerated track, built at the first request. */
export async function answerComparison(exchange: DashboardExchange): Promise<void> {
  const found = await comparisonsOf(exchange)
  if (!found) return
  const address = (index: number, side: string) => (kind: keyof typeof TYPES) =>
    `/api/jobs/${exchange.groups.id}/comparison/${index}/${side}/${kind}`
  const side = (index: number, name: string) => {
    const of = address(index, name)
    return { audio: of('audio'), waveform: of('waveform'), spectrogram: of('spectrogram') }
  }
  const tracks = found.map((track, index) => ({ ...track, before: side(index, 'before'), after: side(index, 'after') }))
  sendJson(exchange.response, 200, { tracks })
}

/** `GET /api/jobs/ID/comparison/N/before|after/audio|waveform|spectrogram` */
export async function answerMedia(exchange: DashboardExchange): Promise<void> {
  const { groups, request, response } = exchange
  const found = await comparisonsOf(exchange)
  if (!found) return
  const track = found[Number(groups.index)]
  if (!track) return sendError(response, 404, 'This track does not exist.')
  const side = groups.side === 'before' ? track.before : track.after
  const kind = groups.kind as keyof typeof TYPES
  await sendFile(request, response, side[kind], TYPES[kind])
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
