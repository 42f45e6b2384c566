import { VoxmuxError } from '../../core/errors.js'
import type { PageExchange } from '../../pages/page-server.js'
import { sendError, sendJson } from '../../pages/respond.js'
import { sendFile } from '../../pages/send-file.js'
import { readReceipt } from '../output/receipt.js'
import type { Comparison } from './comparison.js'
import { fileOf, withFiles } from './comparison-files.js'
import type { ComparedJob, ComparisonStore } from './comparison-store.js'

type ComparisonExchange = PageExchange & { readonly comparisons: ComparisonStore }

/** A job whose page asks for a comparison. */
interface AskedJob extends Pick<ComparedJob, 'id' | 'sources'> {
  readonly output: string | null
  readonly receipt: string | null
}

/** Sends the players and pictures of each regenerated track, which are built at the first request. */
export async function sendComparison(exchange: ComparisonExchange, job: AskedJob, address: string): Promise<void> {
  const found = await comparisonsOf(exchange, job)
  if (!found) return
  const tracks = found.map((one, index) => withFiles(one, (_, side, kind) => `${address}/${index}/${side}/${kind}`))
  sendJson(exchange.response, 200, { tracks })
}

/** Sends the file that an address of `COMPARISON_FILE` names. */
export async function sendComparedFile(exchange: ComparisonExchange, job: AskedJob): Promise<void> {
  const { groups, request, response } = exchange
  const found = await comparisonsOf(exchange, job)
  if (!found) return
  const file = fileOf(found, groups)
  if (!file) return sendError(response, 404, 'This track does not exist.')
  await sendFile(request, response, file.path, file.type)
}

/** The comparison of a finished job. Sends the error and returns null if there is none. */
async function comparisonsOf(
  { comparisons, response }: ComparisonExchange,
  { id, sources, output, receipt: path }: AskedJob,
): Promise<readonly Comparison[] | null> {
  const receipt = path === null ? undefined : await readReceipt(path)
  if (!receipt || output === null) {
    sendError(response, 404, 'This job has no receipt, so there is nothing to compare.')
    return null
  }
  try {
    return await comparisons.get({ id, sources, output, receipt })
  } catch (fault) {
    if (!(fault instanceof VoxmuxError)) throw fault
    sendError(response, 409, fault.message)
    return null
  }
}
