import { open, rename } from 'node:fs/promises'
import type { Receipt } from '../receipt.js'
import { type ComparisonOptions, compareTracks } from './comparison.js'
import { inlineComparison } from './inline-comparison.js'
import { reportPage } from './report-page.js'

/** What follows an output's name in that of its report. */
const REPORT_SUFFIX = '.voxmux.html'

/** Path of the page that stands beside an output. */
export function reportPath(output: string): string {
  return `${output}${REPORT_SUFFIX}`
}

/**
 * Builds the page that compares before and after.
 *
 * @param part hidden file in which it waits until the output has its name
 */
export async function buildReport(receipt: Receipt, part: string, options: ComparisonOptions): Promise<void> {
  const comparisons = await compareTracks(receipt, options)
  const page = reportPage(receipt, await Promise.all(comparisons.map(inlineComparison)))
  const handle = await open(part, 'w')
  try {
    await handle.writeFile(page)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Gives a page that was built its name. */
export async function publishReport(part: string, output: string): Promise<void> {
  await rename(part, reportPath(output))
}
