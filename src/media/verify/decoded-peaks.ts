import { audioStreams } from '../media-info.js'
import { decodePcm } from '../pcm/decode-pcm.js'
import { measureLoudness } from '../pcm/loudness.js'
import { probe } from '../probe/probe.js'
import { newStreams } from '../write/remux/mux-command.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { matchStreams } from './match-streams.js'

/**
 * True peaks of the new lossy tracks of a finished file, as a player decodes them, in dBTP. Reads nothing if there are
 * none.
 *
 * @throws whatever probing and decoding throw
 */
export async function decodedPeaks(plan: MuxPlan, path: string, signal: AbortSignal): Promise<readonly number[]> {
  const lossy = newStreams(plan).filter(({ encoding }) => !encoding.lossless)
  if (lossy.length === 0) return []
  const output = await probe(path, { signal, writtenAs: plan.container })
  const matched = matchStreams(plan, output)
  const peaks: number[] = []
  for (const stream of audioStreams(output)) {
    if (!lossy.some((own) => matched.get(own)?.index === stream.index)) continue
    const { truePeakDbtp } = await measureLoudness(decodePcm(output, { audioIndex: stream.audioIndex, signal }))
    if (truePeakDbtp !== null) peaks.push(truePeakDbtp)
  }
  return peaks
}
