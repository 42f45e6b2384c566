import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Receipt } from '../output/receipt.js'
import { reportPath } from '../plan/output-path.js'
import { type Comparison, type ComparisonOptions, compareTracks, type Side } from './comparison.js'
import { reportPage } from './report-page.js'

/**
 * Builds the page with the certificate, if there is one, and the comparison with the input.
 *
 * @param part hidden file for the page until the output is published
 * @param options null for no comparison
 */
export async function buildReport(receipt: Receipt, part: string, options: ComparisonOptions | null): Promise<void> {
  const comparisons = options === null ? [] : await compareTracks(receipt, options)
  const page = reportPage(receipt, await Promise.all(comparisons.map(inlineComparison)))
  await writeFile(part, page, { flag: 'wx', flush: true })
}

/** Gives a finished report its name. */
export async function publishReport(part: string, output: string): Promise<void> {
  await rename(part, reportPath(output))
}

/** Embeds the files of a comparison in a standalone page as data addresses. */
async function inlineComparison(comparison: Comparison): Promise<Comparison> {
  const [before, after] = await Promise.all([inlineSide(comparison.before), inlineSide(comparison.after)])
  return { ...comparison, before, after }
}

async function inlineSide({ audio, waveform, spectrogram }: Side): Promise<Side> {
  return {
    audio: await dataAddress('audio/mp4', audio),
    waveform: await dataAddress('image/png', waveform),
    spectrogram: await dataAddress('image/png', spectrogram),
  }
}

async function dataAddress(type: string, path: string): Promise<string> {
  return `data:${type};base64,${(await readFile(path)).toString('base64')}`
}
