import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { MediaInfo } from '../../media/media-info.js'
import { receiptPartPath, reportPartPath } from '../output/part-file.js'
import { readReceipt, writeReceipt } from '../output/receipt.js'
import { makeWorkFolder } from '../output/work-folder.js'
import { receiptPath } from '../plan/output-path.js'
import { buildReport, publishReport, reportPath } from './write-report.js'

export interface LateReportOptions {
  readonly jobId: string
  readonly stateDir: string
  readonly signal: AbortSignal
}

/**
 * Writes the report of an existing output from its receipt, when a finished job runs again with `--report`. Does
 * nothing if the report exists or the receipt is missing.
 */
export async function reportLate(
  output: string,
  before: Pick<MediaInfo, 'path' | 'readOptions' | 'durationSec'>,
  { jobId, stateDir, signal }: LateReportOptions,
): Promise<void> {
  const report = reportPath(output)
  const receipt = existsSync(report) ? undefined : await readReceipt(receiptPath(output))
  if (!receipt) return
  const part = reportPartPath(output, jobId)
  const workFolder = await makeWorkFolder(stateDir, `report-${jobId}`)
  try {
    const reported = { ...receipt, report }
    const { durationSec } = before
    await buildReport(reported, part, { before, after: { path: output }, durationSec, workFolder, signal })
    await publishReport(part, output)
    await writeReceipt(receiptPath(output), reported, receiptPartPath(output, jobId))
  } finally {
    await rm(part, { force: true })
    await rm(workFolder, { recursive: true, force: true })
  }
}
