import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { MediaInfo } from '../../media/media-info.js'
import { receiptPath } from '../output-path.js'
import { receiptPartPath, reportPartPath } from '../part-file.js'
import { readReceipt, writeReceipt } from '../receipt.js'
import { makeWorkFolder } from '../work-folder.js'
import { buildReport, publishReport, reportPath } from './write-report.js'

export interface LateReportOptions {
  readonly jobId: string
  readonly stateDir: string
  readonly signal: AbortSignal
}

/**
 * Makes the page of an output that stands in its place already, from its receipt: whoever runs a finished job again
 * with `--report` wants the page, not the work. Does nothing where there is one, or no receipt.
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
