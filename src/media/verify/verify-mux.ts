import { VerificationError, type VoxmuxError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import { type MediaInfo, pictureOf } from '../media-info.js'
import { probe } from '../probe/probe.js'
import type { MuxResult, VoiceSplice } from '../write/remux/mux.js'
import { newStreams, writtenStreams } from '../write/remux/mux-command.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { type PacketTimesByIndex, type StreamTimes, sameTimes } from '../write/remux/packet-times.js'
import { isBoundToPictures } from '../write/remux/picture-length.js'
import { isHashed, type PacketHashes } from '../write/remux/stream-hash.js'
import type { SyncPlace } from '../write/remux/sync-reference.js'
import type { PacketSpan } from '../write/splice/splice-ranges.js'
import { encodedDifferences } from './encoded-differences.js'
import type { TrackReadBack } from './find-voice.js'
import { keptDifferences } from './kept-differences.js'
import { matchStreams } from './match-streams.js'
import { placeDifferences } from './places/place-differences.js'
import { readBack } from './read-back.js'
import { tableDifferences } from './table-differences.js'

export interface VerifyOptions {
  readonly level: 'full' | 'fast'
  readonly signal?: AbortSignal | undefined
}

/** The proved fate of a stream. */
interface VerifiedStream {
  /** An added stream has that of the stream from which it was made. */
  readonly inputIndex: number
  readonly outputIndex: number | null
  readonly fate: 'copied' | 'replaced' | 'added' | 'converted' | 'dropped'
  /** Copied streams only: hash of all packets before and after. `output` is null if it was not read (`fast`). */
  readonly packetHash: { readonly input: string; readonly output: string | null } | null
  readonly reason: string | null
}

export interface MuxVerification {
  readonly level: 'full' | 'fast'
  readonly streams: readonly VerifiedStream[]
  /** One entry for each new audio track; empty with `fast`. */
  readonly sync: readonly { readonly audioIndex: number; readonly places: readonly SyncPlace[] }[]
  /** Comparisons that were made; the receipt lists them. */
  readonly checks: readonly string[]
  readonly output: MediaInfo
}

type SplicedVoice = VoiceSplice & { readonly kind: 'spliced' }

/** Largest offset between sound and picture; 1 ms is far below what a viewer can notice. */
const MAX_OFFSET_SEC = 0.001
/** By so much the end of a lossy sound may move. At least half of a very short one must come back. */
const MAX_END_SEC = 0.15

/**
 * Compares a finished part file with its plan. `fast` compares only the tables. `full` also reads the output.
 * The packets of copied streams must have the hashes of the input. The new audio must decode to its end, with the right
 * length and at the right place.
 *
 * @throws {VerificationError} ERR_VERIFY_FAILED, naming the differences
 */
export async function verifyMux(
  plan: MuxPlan,
  result: MuxResult,
  partPath: string,
  options: VerifyOptions,
): Promise<MuxVerification> {
  const examined = await examineMux(plan, result, partPath, options)
  if ('differences' in examined) throw verificationFailure(plan, examined)
  return examined
}

/** How a part file differs from its plan. */
export interface MuxFaults {
  readonly differences: readonly string[]
  readonly cause?: VoxmuxError
}

/** Compares as {@link verifyMux} does, and returns the differences. @throws faults of this computer; `ERR_INTERRUPTED` */
export async function examineMux(
  plan: MuxPlan,
  result: MuxResult,
  partPath: string,
  { level, signal }: VerifyOptions,
): Promise<MuxVerification | MuxFaults> {
  const blaming = (difference: string) => (cause: VoxmuxError) => {
    if (cause.exitCode === 130 || cause.exitCode === 4) throw cause
    return { differences: [difference], cause }
  }
  const output = await probe(partPath, { signal, writtenAs: plan.container }).catch(blaming('it cannot be opened'))
  if ('differences' in output) return output
  const voiceSec = result.voices.map(({ sampleCount, format }) => sampleCount / format.sampleRate)
  const tables = tableDifferences(plan, output, voiceSec)
  const kept = await keptDifferences(plan, result.layout, partPath, signal)
  const before = [...tables, ...kept, ...(await placeDifferences(plan, output))]
  if (before.length > 0) return { differences: before }
  const checks = [
    'streams, tags, dispositions, chapters and durations',
    ...(result.layout ? ['bytes of every kept structure'] : []),
  ]
  if (level === 'fast')
    return { level, output, checks, sync: [], streams: verifiedStreams(plan, result, output, undefined) }
  const back = await readBack(plan, result, output, signal).catch(blaming('it does not play to its end'))
  if ('differences' in back) return back
  const differences = [
    ...hashDifferences(plan, result.packetHashes, back.packetHashes),
    ...timeDifferences(plan, result.packetTimes, back.packetTimes),
    ...back.tracks.flatMap((track) => soundDifferences(plan, result, track, output)),
    ...spliceDifferences(plan, result, back.packetTimes),
    ...encodedDifferences(plan, result, back),
  ]
  if (differences.length > 0) return { differences }
  const isWhole = result.voices.every(({ splice }) => splice?.kind !== 'spliced' || splice.sections === null)
  return {
    level,
    output,
    sync: back.tracks.map(({ audioIndex, places }) => ({ audioIndex, places })),
    streams: verifiedStreams(plan, result, output, back.packetHashes),
    checks: [
      ...checks,
      'packets of every copied stream',
      'times of every picture and subtitle',
      isWhole ? 'new audio decoded to its end' : 'new audio decoded in the changed parts',
      'sound against picture',
      ...(result.voices.some(({ encoded }) => encoded !== null) ? ['packets of the new audio'] : []),
      ...(result.voices.some(({ splice }) => splice?.kind === 'spliced') ? ['packets outside the changed parts'] : []),
    ],
  }
}

function hashDifferences(plan: MuxPlan, before: PacketHashes, after: PacketHashes): readonly string[] {
  return writtenStreams(plan).flatMap((stream) => {
    if (!isHashed(stream)) return []
    const [was, is] = [before.get(stream.input.index), after.get(stream.input.index)]
    return was !== undefined && was === is ? [] : [`the packets of ${stream.input.kind} stream ${stream.input.index}`]
  })
}

function timeDifferences(plan: MuxPlan, before: PacketTimesByIndex, after: PacketTimesByIndex): readonly string[] {
  return writtenStreams(plan).flatMap(({ fate, input }) => {
    const [was, is] = [before.get(input.index), after.get(input.index)]
    if (fate !== 'copied' || was === undefined || is === undefined) return []
    // Another container may divide the same bytes into other packets; the hash then proves them.
    if (plan.media.container !== plan.container && was.pts.length !== is.pts.length) return []
    return sameTimes(was, is) ? [] : [`the times of ${input.kind} stream ${input.index}`]
  })
}

function soundDifferences(
  plan: MuxPlan,
  result: MuxResult,
  track: TrackReadBack,
  output: MediaInfo,
): readonly string[] {
  const voice = result.voices.find(({ audioIndex }) => audioIndex === track.audioIndex)
  const stream = newStreams(plan).find(({ input }) => input.audioIndex === track.audioIndex)
  if (!voice || !stream) return []
  const rate = voice.format.sampleRate
  // Every packet of a spliced track keeps its time. Damaged ones of the input may end its sound early, as before.
  const isBound = plan.writing.kind === 'remux' && isBoundToPictures(plan.profile, plan.media)
  const pictureSec = isBound ? pictureOf(output)?.durationSec : undefined
  const wanted = pictureSec == null ? voice.sampleCount : Math.round(pictureSec * rate)
  const { codec, lossless } = stream.encoding
  // Lossy codecs end on a whole frame (some add another), and not every container states the exact end.
  const isEarly = track.sampleCount < Math.max(wanted - toleranceSamples(lossless, rate), wanted / 2)
  const isLate = track.sampleCount > wanted + toleranceSamples(lossless && codec !== 'pcm_bluray', rate)
  const lengths = voice.splice?.kind !== 'spliced' && (isEarly || isLate)
  const late = track.places.filter(({ offsetSamples }) => Math.abs(offsetSamples ?? 0) > MAX_OFFSET_SEC * rate)
  const name = `audio track ${track.audioIndex}`
  return [
    ...(lengths ? [`the length of ${name} (${track.sampleCount} instead of ${wanted} samples)`] : []),
    ...late.map(({ at, offsetSamples }) => `the timing of ${name} (${offsetSamples} samples off at its ${at})`),
    ...track.unlike.map((sample) => `the audio of ${name} at ${formatTime(sample / rate)}, in a changed part`),
    ...track.lost.map((at) => `the audio of ${name} at its ${at}`),
  ]
}

function toleranceSamples(isExact: boolean, rate: number): number {
  return Math.ceil((isExact ? MAX_OFFSET_SEC : MAX_END_SEC) * rate)
}

/** Compares every packet outside the changed parts of a track with the input's. */
function spliceDifferences(plan: MuxPlan, result: MuxResult, after: PacketTimesByIndex): readonly string[] {
  return newStreams(plan).flatMap(({ input }) => {
    const splice = result.voices.find(({ audioIndex }) => audioIndex === input.audioIndex)?.splice
    if (splice?.kind !== 'spliced') return []
    const [was, is] = [result.packetTimes.get(input.index), after.get(input.index)]
    const isSame = was && is && isSameOutside(splice, was, is, plan.media.clockErrorSec)
    return isSame ? [] : [`the packets of audio track ${input.audioIndex} outside the changed parts`]
  })
}

function isSameOutside(
  { count, replaced }: SplicedVoice,
  was: StreamTimes,
  is: StreamTimes,
  errorSec: number | undefined,
): boolean {
  const more = replaced.reduce((sum, { from, to, made }) => sum + made.to - made.from - (to - from), 0)
  if (is.contents.length - was.contents.length !== more) return false
  // ffmpeg leaves out packets at the start or at the end that are not shown.
  const leftOut = Array.from({ length: 1 + count - was.contents.length }, (_, first) => first)
  return leftOut.some((first) => {
    const old = withoutSpans(was, replaced, first)
    const kept = withoutSpans(
      is,
      replaced.map(({ made }) => made),
      first,
    )
    return sameTimes(old, kept, errorSec) && old.contents.every((content, place) => content === kept.contents[place])
  })
}

/** The packets of a stream outside some spans, which are in order. @param first packet that was read */
function withoutSpans(
  { tickSec, pts, contents }: StreamTimes,
  spans: readonly PacketSpan[],
  first: number,
): StreamTimes {
  const kept = (values: Float64Array) => {
    const ends = spans.map(({ from }) => Math.max(0, from - first))
    const parts = [0, ...spans.map(({ to }) => Math.max(0, to + 1 - first))].map((from, place) =>
      values.subarray(from, ends[place]),
    )
    const joined = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  }
  return { tickSec, pts: kept(pts), contents: kept(contents) }
}

function verifiedStreams(
  plan: MuxPlan,
  result: MuxResult,
  output: MediaInfo,
  after: PacketHashes | undefined,
): readonly VerifiedStream[] {
  const matched = matchStreams(plan, output)
  return plan.streams.map((stream) => {
    const input = isHashed(stream) ? result.packetHashes.get(stream.input.index) : undefined
    return {
      inputIndex: stream.input.index,
      outputIndex: matched.get(stream)?.index ?? null,
      fate: stream.fate,
      packetHash: input === undefined ? null : { input, output: after?.get(stream.input.index) ?? null },
      reason: stream.reason,
    }
  })
}

/**
 * Compares the kept structures of a part file alone, before its bytes move.
 *
 * @throws {VerificationError} ERR_VERIFY_FAILED
 */
export async function requireKept(
  plan: MuxPlan,
  { layout }: MuxResult,
  partPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const differences = await keptDifferences(plan, layout, partPath, signal)
  if (differences.length > 0) throw verificationFailure(plan, { differences })
}

/** The fault of a part file that differs from its plan. */
export function verificationFailure(plan: MuxPlan, { differences, cause }: MuxFaults): VerificationError {
  return new VerificationError(
    'ERR_VERIFY_FAILED',
    `The finished file for ${plan.media.path} failed verification: ${differences.join('; ')}.`,
    {
      input: plan.media.path,
      cause,
      remedies: ['Nothing was published. Try another container with a preset, and report this file.'],
    },
  )
}
