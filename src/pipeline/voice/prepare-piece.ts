import { rm } from 'node:fs/promises'
import { cutVoice, type Loudness, loudnessOverTime, meteredPcm, probe, readPcmFile } from '../../media/index.js'
import type { SampleRange, VoiceCut } from '../../media/voice-cut.js'
import type { ChunkLengths } from '../plan/chunk-lengths.js'
import type { PiecePlan } from '../plan/plan-tracks.js'
import { rangesInCut } from '../plan/segments.js'
import { planChunks } from './plan-chunks.js'

/** A cut piece: the voice files to send, or the reason for sending none. */
export type PreparedPiece =
  | {
      readonly kind: 'send'
      readonly plan: PiecePlan
      /** The range of the cut, handles included, in samples of the track. */
      readonly range: SampleRange
      /** The voice files, in order: the whole cut, or its overlapping parts. */
      readonly cuts: readonly VoiceCut[]
      /** Joins between the parts, in samples of the track. */
      readonly joins: readonly number[]
      /** The loudness of the whole cut, if it was read anyway. */
      readonly loudness: Loudness | null
    }
  | { readonly kind: 'leave'; readonly plan: PiecePlan; readonly why: 'silent' | 'past the end' }

/** A channel has no voice if its loudest 10 ms stay below this mean square (-70 dB). */
const SILENT_POWER = 1e-7

/**
 * Decides which files of a cut are sent. It reads only a cut that is too long or a channel that may be silent, once and
 * as a stream. A divided cut is deleted; its parts are beside it.
 */
export async function preparePiece(
  plan: PiecePlan,
  cut: VoiceCut,
  lengths: ChunkLengths | null,
  options: { readonly signal: AbortSignal },
): Promise<PreparedPiece> {
  if (rangesInCut(plan.ranges, cut.range).length === 0) return { kind: 'leave', plan, why: 'past the end' }
  const isLong = lengths !== null && cut.sampleCount > lengths.mostSec * cut.sampleRate
  const whole = { kind: 'send', plan, range: cut.range, cuts: [cut], joins: [], loudness: null } as const
  if (!isLong && plan.whenSilent === 'send') return whole
  const { overTime, loudness } = await listen(cut, options.signal)
  if (plan.whenSilent === 'leave' && overTime.powers.every((power) => power < SILENT_POWER)) {
    return { kind: 'leave', plan, why: 'silent' }
  }
  if (!isLong) return { ...whole, loudness }
  const chunks = planChunks(overTime, cut, lengths)
  const cuts = await cutChunks(cut, chunks.ranges, options.signal)
  await Promise.all([rm(cut.path), rm(cut.pcm.path)])
  return { ...whole, cuts, joins: chunks.joins.map((join) => cut.range.startSample + join), loudness }
}

async function listen(cut: VoiceCut, signal: AbortSignal) {
  const metered = meteredPcm(readPcmFile(cut.pcm, { signal }))
  const overTime = await loudnessOverTime(metered.stream)
  return { overTime, loudness: metered.loudness() }
}

/** Cuts parts out of a cut, each with its position on the file's clock. */
async function cutChunks(cut: VoiceCut, ranges: readonly SampleRange[], signal: AbortSignal): Promise<VoiceCut[]> {
  const media = await probe(cut.path, { signal })
  const requests = ranges.map((range, index) => ({
    audioIndex: 0,
    channels: { kind: 'all' } as const,
    range,
    targetWithoutExtension: `${cut.request.targetWithoutExtension}-${index}`,
  }))
  const made = await cutVoice(media, requests, { signal })
  return made.map((part) => ({
    ...part,
    request: { ...cut.request, range: shifted(part.range, cut.range.startSample) },
    range: shifted(part.range, cut.range.startSample),
  }))
}

function shifted({ startSample, endSample }: SampleRange, by: number): SampleRange {
  return { startSample: startSample + by, endSample: endSample + by }
}
