import type { OpenRange } from './segments.js'

/** The ranges that `--preview` regenerates: the first `sampleCount` samples of the wanted ones together. */
export function previewRanges(ranges: readonly OpenRange[], sampleCount: number): OpenRange[] {
  const kept: OpenRange[] = []
  let left = sampleCount
  for (const { startSample, endSample } of ranges) {
    if (left <= 0) break
    const length = endSample === null ? left : Math.min(left, endSample - startSample)
    kept.push({ startSample, endSample: startSample + length })
    left -= length
  }
  return kept
}
