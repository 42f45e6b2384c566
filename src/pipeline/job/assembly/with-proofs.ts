import { thrownMessage } from '../../../core/errors.js'
import type { MediaInfo } from '../../../media/media-info.js'
import { certify } from '../../output/certify.js'
import type { Receipt } from '../../output/receipt.js'
import type { JobSettings } from '../../plan/job-settings.js'
import { reportPath } from '../../plan/output-path.js'
import { buildReport } from '../../report/write-report.js'
import type { Attempt } from '../job-life.js'

/**
 * Adds to a receipt what the settings ask for beyond it: the certificate, and the page with it and the comparison. A
 * fault here keeps the output, which is paid for and verified.
 *
 * @param before the input, to compare the output with; null if there is nothing to compare
 * @throws InterruptedError only
 */
export async function withProofs(
  receipt: Receipt,
  settings: JobSettings,
  before: MediaInfo | null,
  { bench, signal }: Pick<Attempt, 'bench' | 'signal'>,
): Promise<Receipt> {
  const { qc } = settings.recipe
  const certificate = qc && (await certify(bench.part, receipt, qc, signal))
  const certified = { ...receipt, certificate }
  const compares = settings.report && before !== null
  if (!compares && certificate === null) return certified
  const report = reportPath(receipt.output.path)
  try {
    const { part, reportPart, workFolder } = bench
    const files = compares && { before, after: { path: part }, durationSec: before.durationSec, workFolder, signal }
    await buildReport({ ...certified, report }, reportPart, files || null)
    return { ...certified, report }
  } catch (error) {
    if (signal.aborted) throw error
    return { ...certified, notes: [...receipt.notes, `The report could not be written: ${thrownMessage(error)}`] }
  }
}
