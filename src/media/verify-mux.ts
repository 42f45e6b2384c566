import { VerificationError, type VoxmuxError } from '../core/errors.js'
import { matchStreams } from './match-streams.js'
import type { MediaInfo } from './media-info.js'
import type { MuxResult } from './mux.js'
import { writtenStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import { type PacketTimesByIndex, sameTimes } from './packet-times.js'
import { probe } from './probe.js'
import { readBack, type TrackReadBack } from './read-back.js'
import type { PacketHashes } from './stream-hash.js'
import type { SyncPlace } from './sync-reference.js'
import { tableDifferences } from './table-differences.js'

export interface VerifyOptions {
  readonly level: 'full' | 'fast'
  readonly signal?: AbortSignal | undefined
}

/** What became of a stream, proved. */
export interface VerifiedStream {
  readonly inputIndex: number
  readonly outputIndex: number | null
  readonly fate: 'copied' | 'replaced' | 'converted' | 'dropped'
  /** Of a copied stream: all its packets before and after; output null where it was not read again (`fast`). */
  readonly packetHash: { readonly input: string; readonly output: string | null } | null
  readonly reason: string | null
}

export interface MuxVerification {
  readonly level: 'full' | 'fast'
  readonly streams: readonly VerifiedStream[]
  /** By audio track; empty with `fast`. */
  readonly sync: readonly { readonly audioIndex: number; readonly places: readonly SyncPlace[] }[]
  /** What was compared, for the receipt. */
  readonly checks: readonly string[]
  readonly output: MediaInfo
}

/** As far as sound and picture may lie apart: nobody sees or hears it. */
const MAX_OFFSET_SEC = 0.001

/**
 * Compares a finished part file with its plan. `fast` looks at the tables alone; `full` reads the output once: the
 * packets of copied streams must hash to what was read from the input, the new sound must decode to its end, have
 * its length and lie at its place.
 *
 * @throws VerificationError ERR_VERIFY_FAILED, naming what differs
 */
export async function verifyMux(
  plan: MuxPlan,
  result: MuxResult,
  partPath: string,
  { level, signal }: VerifyOptions,
): Promise<MuxVerification> {
  const output = await probe(partPath, { signal }).catch((error: VoxmuxError) => {
    throw error.code === 'ERR_INTERRUPTED' ? error : failed(plan, ['it cannot be opened'], error)
  })
  const tables = tableDifferences(plan, output)
  if (tables.length > 0) throw failed(plan, tables)
  const checks = ['streams, tags, dispositions, chapters and durations']
  if (level === 'fast')
    return { level, output, checks, sync: [], streams: verifiedStreams(plan, result, output, undefined) }
  const back = await readBack(plan, result, output, signal).catch((error: VoxmuxError) => {
    throw error.exitCode === 130 || error.exitCode === 4 ? error : failed(plan, ['it does not play to its end'], error)
  })
  const differences = [
    ...hashDifferences(plan, result.packetHashes, back.packetHashes),
    ...timeDifferences(plan, result.packetTimes, back.packetTimes),
    ...back.tracks.flatMap((track) => soundDifferences(plan, result, track)),
  ]
  if (differences.length > 0) throw failed(plan, differences)
  return {
    level,
    output,
    sync: back.tracks.map(({ audioIndex, places }) => ({ audioIndex, places })),
    streams: verifiedStreams(plan, result, output, back.packetHashes),
    checks: [
      ...checks,
      'packets of every copied stream',
      'time of every picture and subtitle',
      'new sound decoded to its end',
      'sound against picture',
    ],
  }
}

function hashDifferences(plan: MuxPlan, before: PacketHashes, after: PacketHashes): readonly string[] {
  return writtenStreams(plan).flatMap((stream) => {
    if (stream.fate !== 'copied' || stream.input.kind === 'attachment') return []
    const [was, is] = [before.get(stream.input.index), after.get(stream.input.index)]
    return was !== undefined && was === is ? [] : [`the packets of ${stream.input.kind} stream ${stream.input.index}`]
  })
}

function timeDifferences(plan: MuxPlan, before: PacketTimesByIndex, after: PacketTimesByIndex): readonly string[] {
  return writtenStreams(plan).flatMap(({ input }) => {
    const [was, is] = [before.get(input.index), after.get(input.index)]
    if (was === undefined || is === undefined) return []
    // Another wrapping may divide the same bytes into other packets: their hash is the proof then.
    if (plan.media.container !== plan.container && was.pts.length !== is.pts.length) return []
    return sameTimes(was, is) ? [] : [`the times of ${input.kind} stream ${input.index}`]
  })
}

function soundDifferences(plan: MuxPlan, result: MuxResult, track: TrackReadBack): readonly string[] {
  const voice = result.voices.find(({ audioIndex }) => audioIndex === track.audioIndex)
  const stream = plan.streams.find(
    ({ fate, input }) => fate === 'replaced' && input.kind === 'audio' && input.audioIndex === track.audioIndex,
  )
  if (!voice || stream?.fate !== 'replaced') return []
  const rate = voice.format.sampleRate
  // Lossy codecs end on a whole frame (some on a whole frame more), and not every container says where.
  const tolerance = stream.encoding.lossless ? Math.ceil(MAX_OFFSET_SEC * rate) : Math.ceil(0.15 * rate)
  const lengths = Math.abs(track.sampleCount - voice.sampleCount) > tolerance
  const late = track.places.filter(({ offsetSamples }) => Math.abs(offsetSamples ?? 0) > MAX_OFFSET_SEC * rate)
  const name = `audio track ${track.audioIndex}`
  return [
    ...(lengths ? [`the length of ${name} (${track.sampleCount} instead of ${voice.sampleCount} samples)`] : []),
    ...late.map(({ at, offsetSamples }) => `the place of ${name}: ${offsetSamples} samples off at its ${at}`),
    ...track.lost.map((at) => `the sound of ${name} at its ${at}`),
  ]
}

function verifiedStreams(
  plan: MuxPlan,
  result: MuxResult,
  output: MediaInfo,
  after: PacketHashes | undefined,
): readonly VerifiedStream[] {
  const matched = matchStreams(plan, output)
  return plan.streams.map((stream) => {
    const input = result.packetHashes.get(stream.input.index)
    return {
      inputIndex: stream.input.index,
      outputIndex: matched.get(stream)?.index ?? null,
      fate: stream.fate,
      packetHash: input === undefined ? null : { input, output: after?.get(stream.input.index) ?? null },
      reason: stream.reason,
    }
  })
}

function failed(plan: MuxPlan, differences: readonly string[], cause?: unknown): VerificationError {
  return new VerificationError(
    'ERR_VERIFY_FAILED',
    `The finished file is not what was planned for ${plan.media.path}: ${differences.join('; ')}.`,
    {
      input: plan.media.path,
      cause,
      remedies: ['Nothing was published. Try another container with a preset, and please report this file.'],
    },
  )
}
