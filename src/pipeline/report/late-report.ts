import { rm } from 'node:fs/promises'
import type { QcStandardName } from '../../config/preset-schema.js'
import { readPlainFile } from '../../core/read-plain-file.js'
import { probe } from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'
import { certify } from '../output/certify.js'
import { requireFreeNames } from '../output/files-beside.js'
import { partPath } from '../output/part-file.js'
import { type Receipt, readReceipt, regeneratedStreams, writeReceipt } from '../output/receipt.js'
import { makeWorkFolder } from '../output/work-folder.js'
import { receiptPath, reportPath } from '../plan/output-path.js'
import { hasComparison } from './report-page.js'
import { buildReport, publishReport } from './write-report.js'

interface LateReportOptions {
  readonly jobId: string
  /** True for the comparison with the input. */
  readonly compares: boolean
  /** Null for no certificate. */
  readonly qc: QcStandardName | null
  readonly stateDir: string
  readonly signal: AbortSignal
}

/**
 * Writes the report of an existing output from its receipt, when a finished job runs again with `--report` or `--qc`.
 * Does nothing if the report has everything, or the receipt is missing.
 *
 * @returns the receipt with what was added; undefined if the output has none
 */
export async function reportLate(
  output: string,
  before: Pick<MediaInfo, 'path' | 'readOptions' | 'decoderOptions' | 'durationSec'>,
  { jobId, compares: wantsComparison, qc, stateDir, signal }: LateReportOptions,
): Promise<Receipt | undefined> {
  const report = reportPath(output)
  const receipt = await readReceipt(receiptPath(output))
  if (!receipt) return undefined
  const page = await readPlainFile(report).then(String, () => '')
  const isCompared = hasComparison(page)
  const compares = wantsComparison && regeneratedStreams(receipt).length > 0
  const { standard, fault } = receipt.certificate ?? {}
  const isCertified = qc === null || (standard === qc && fault === null)
  if (page !== '' && isCertified && (isCompared || !compares)) return receipt
  await requireFreeNames(output, { report: true, sidecar: false })
  const part = partPath(output, jobId, '.html')
  const workFolder = makeWorkFolder(stateDir, `report-${jobId}`)
  try {
    const certificate = isCertified ? receipt.certificate : await certify(output, receipt, qc, signal)
    const reported = { ...receipt, certificate, report }
    const { durationSec } = before
    const files = { before, after: await probe(output, { signal }), durationSec, workFolder, signal }
    await buildReport(reported, part, compares || isCompared ? files : null)
    await publishReport(part, output)
    await writeReceipt(receiptPath(output), reported, partPath(output, jobId, '.json'))
    return reported
  } finally {
    await rm(part, { force: true })
    await rm(workFolder, { recursive: true, force: true })
  }
}
