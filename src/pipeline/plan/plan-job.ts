import { extname, join, resolve } from 'node:path'
import { PrecheckError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import type { CredentialsFound } from '../../credentials/index.js'
import {
  cutEncoding,
  type MuxPlan,
  type PlanOutputOptions,
  planMux,
  planOutput,
  probe,
  writingFacts,
} from '../../media/index.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media/media-info.js'
import { type Limits, refusalError } from '../../precheck/index.js'
import { chunkForecast } from './chunk-lengths.js'
import { copyReason, tracksToReplace } from './copy-reason.js'
import { withInputCredentials } from './input-credentials.js'
import type { JobSettings } from './job-settings.js'
import { judge, type Verdicts } from './judge.js'
import { namedContainer, outputFormat } from './output-format.js'
import { namesFolder, outputPath } from './output-path.js'
import { pickedChannels } from './pick-channels.js'
import { cutReadFrom } from './piece-groups.js'
import {
  isInParts,
  type PiecePlan,
  pieceSec,
  planTracks,
  requirePackets,
  type SentCuts,
  type TrackPlan,
  withinSound,
} from './plan-tracks.js'
import { mostPaidSec } from './price.js'
import type { VoiceMaps } from './ranges-to-send.js'
import { rehearse } from './rehearse.js'

/** A request for a job. */
export interface PlanRequest {
  /** Id of the events until the ledger has the job. */
  readonly provisionalId: string
  /** Absolute path, or https address. */
  readonly input: string
  /** As typed; see `outputPath`. */
  readonly output: string | undefined
  /** Name of the output without its extension, if voxmux chooses it. Undefined for the input's name and a label. */
  readonly outputStem?: string | undefined
  readonly cwd: string
  /** Group of the job, such as a watch folder. Groups take turns, and each can be paused. */
  readonly group: string
  readonly settings: JobSettings
  /** The service fetches the input itself, which must be an address. */
  readonly remote: boolean
  /** Replaces an unchanged output of an older version of the input. The cache may have its parts as they were sent. */
  readonly supersede?: boolean
  /** The cuts that earlier jobs sent of this file. Their parts are not joined with others, and need not be paid again. */
  readonly sentBefore?: SentCuts
}

/** All decisions about a job, made before anything is cut, sent or written. */
export interface JobPlan {
  readonly media: MediaInfo
  readonly output: string
  readonly tracks: readonly TrackPlan[]
  readonly verdicts: Verdicts
  readonly mux: MuxPlan
  /** Set if `--strict` refuses the losses of the output. */
  readonly strictRefusal: PrecheckError | undefined
  /** Content Credentials that a signed output carries on; null if there are none. */
  readonly inputCredentials: CredentialsFound | null
  /** Notes for people that are not losses. */
  readonly notes: readonly string[]
  /** Why nothing is sent and the output is a copy of the input; null for every other job. */
  readonly copyReason: string | null
  /** Seconds of voice by the stated length; `withPrice` makes it the most that is paid for. Null if the length is unknown. */
  readonly paidSec: number | null
  /** Most bytes of the voice. The sent file is usually smaller. */
  readonly sendBytes: number
  readonly outputBytes: number
  /** Space for cuts, regenerated audio and spooled tracks in the state folder. */
  readonly workBytes: number
}

/** Extra space for indices, receipts and file system overhead. No output is planned with less. */
export const LEAST_OUTPUT_BYTES = 32 * 1024 ** 2

/**
 * Plans a job: probes the file, chooses tracks, channels and parts, judges them, and decides the output. Reads the
 * input and writes nothing.
 *
 * @throws whatever probing and choosing throw: unreadable files, missing tracks and segments
 */
export async function planJob(
  request: PlanRequest,
  limits: Limits,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<JobPlan> {
  return planMedia(await probe(resolve(request.cwd, request.input), options), request, limits, options)
}

/** {@link planJob} for a probed file. Throws whatever choosing throws. */
export async function planMedia(
  media: MediaInfo,
  request: PlanRequest,
  limits: Limits,
  { signal, maps }: { readonly signal?: AbortSignal | undefined; readonly maps?: VoiceMaps | undefined } = {},
): Promise<JobPlan> {
  const { settings } = request
  const planned = planTracks(media, settings, limits, {
    maps,
    apart: request.supersede,
    sentBefore: request.sentBefore,
  })
  const replaced = tracksToReplace(planned, settings)
  const verdicts = judge(media, planned, settings, limits)
  const isFolder = request.output !== undefined && (await namesFolder(request.output, request.cwd))
  const wishes = muxOptions(media, replaced, settings, isFolder ? undefined : request.output)
  const written = await planWriting(media, wishes, verdicts, signal)
  requirePackets(written.media, replaced)
  const tracks = withinSound(written.media, replaced)
  const { mux, ...signing } = await withInputCredentials(media, written, settings.signed === true)
  const output = await outputPath({
    input: media.path,
    output: request.output,
    stem: request.outputStem,
    extension: mux.container === media.container ? extname(media.path) : `.${mux.container}`,
    label: settings.previewSec === null ? 'regen' : 'preview',
    cwd: request.cwd,
  })
  const copied = copyReason({ media, tracks, mux }, settings)
  const sendBytes = tracks.reduce((sum, track) => sum + voiceBytes(written.media, track), 0)
  return {
    media: mux.media,
    output,
    tracks,
    verdicts,
    mux,
    strictRefusal: settings.strict ? strictRefusal(media, mux) : undefined,
    copyReason: copied,
    inputCredentials: signing.credentials,
    // The notes of the writing are not about a copy.
    notes: [
      ...(copied === null ? mux.notes : []),
      ...signing.notes,
      ...tracks.flatMap((track) => chunkNotes(written.media, track)),
    ],
    paidSec: mostPaidSec({ media, tracks }),
    sendBytes,
    outputBytes: media.sizeBytes + sendBytes + LEAST_OUTPUT_BYTES,
    // Cuts and regenerated audio, each packed and as raw samples; and the samples with a lower bed.
    workBytes: (settings.recipe.bed === 'keep' ? 4 : 5) * sendBytes + LEAST_OUTPUT_BYTES,
  }
}

/** A file that is refused is not walked through, nor any encoder tried for it. */
function planWriting(media: MediaInfo, wishes: PlanOutputOptions, verdicts: Verdicts, signal: AbortSignal | undefined) {
  const isRefused = refusalError(media.path, verdicts.asSent) !== undefined
  return isRefused ? planMux(media, wishes) : planOutput(media, { ...wishes, signal })
}

/** How the output of judged tracks would be written beside its input; for a check, which sends nothing. */
export async function checkWriting(
  media: MediaInfo,
  tracks: readonly TrackPlan[],
  settings: JobSettings,
  signal: AbortSignal,
): Promise<ReturnType<typeof writingFacts> & Pick<MuxPlan, 'losses'>> {
  const mux = await planOutput(media, { ...muxOptions(media, tracks, settings, undefined), signal })
  await rehearse({ mux, tracks, copyReason: null }, signal)
  return { ...writingFacts(mux), losses: mux.losses }
}

/** The cut requests of a plan, in the order of tracks and pieces. */
export function cutRequests({ tracks, mux }: JobPlan, folder: string) {
  const readFrom = new Map(
    tracks
      .filter(({ stream }) => mux.indexedTracks?.includes(stream.audioIndex))
      .flatMap((track) => [...cutReadFrom(track)]),
  )
  return tracks
    .flatMap(({ pieces }) => pieces)
    .map((piece, index) => ({
      audioIndex: piece.audioIndex,
      channels: piece.channels,
      range: piece.cut,
      readFromSample: readFrom.get(piece),
      targetWithoutExtension: join(folder, `voice-${index}`),
    }))
}

function muxOptions(
  media: MediaInfo,
  tracks: readonly TrackPlan[],
  { recipe, outputType }: JobSettings,
  outputFile: string | undefined,
): PlanOutputOptions {
  return {
    replaced: tracks.map(({ stream }) => stream.audioIndex),
    inParts: tracks.filter((track) => isInParts(track, recipe)).map(({ stream }) => stream.audioIndex),
    mixedTo: new Map(
      tracks.flatMap(({ stream, pieces: [piece] }) =>
        piece?.channels.kind === 'downmix'
          ? [[stream.audioIndex, pickedChannels(piece.channels, stream)] as const]
          : [],
      ),
    ),
    ...(outputType === null
      ? { container: namedContainer(media, outputFile) }
      : outputFormat(media, outputType, outputFile)),
    fallbackContainer: recipe.audio.container,
    fallbackCodec: recipe.audio.codec,
    fallbackBitRate: recipe.audio.bitRate,
    keepOriginal: recipe.keepOriginal,
    addTrack: recipe.addTrack,
  }
}

/** Names the parts in which a track is sent, if it is divided. */
function chunkNotes(media: MediaInfo, { stream, pieces }: TrackPlan): readonly string[] {
  const divided = pieces.flatMap((piece) => {
    const sec = voiceSec(media, stream, piece)
    const forecast = sec === null ? null : chunkForecast(sec, piece.chunks)
    return forecast && forecast.count > 1 ? [forecast] : []
  })
  const count = divided.reduce((sum, forecast) => sum + forecast.count, 0)
  const longest = formatTime(divided[0]?.longestSec ?? 0)
  return count > 0
    ? [`Audio track ${stream.audioIndex} is sent in about ${count} parts of at most ${longest}, cut at pauses.`]
    : []
}

/** Uncompressed size of the voices. FLAC about halves it. */
function voiceBytes(media: MediaInfo, { stream, pieces }: TrackPlan): number {
  return pieces.reduce((sum, piece) => {
    const sec = voiceSec(media, stream, piece) ?? 0
    const channels = pickedChannels(piece.channels, stream)
    return sum + Math.ceil((sec * stream.sampleRate * channels * cutEncoding(stream, channels).bits) / 8)
  }, 0)
}

/**
 * Seconds of a piece up to the last packet. A subtitle without an end makes a film of months.
 *
 * @param media with the facts of the packets that the plan has read
 */
function voiceSec(media: MediaInfo, stream: AudioStreamInfo, piece: PiecePlan): number | null {
  const { packetsEndSec } = audioStreams(media)[stream.audioIndex] ?? stream
  const isToEnd = piece.cut.endSample === null && packetsEndSec !== null && packetsEndSec !== undefined
  return pieceSec(isToEnd ? { ...media, durationSec: packetsEndSec } : media, stream, piece)
}

function strictRefusal(media: MediaInfo, mux: MuxPlan): PrecheckError | undefined {
  if (mux.losses.length === 0) return undefined
  const named = mux.losses.map(({ what, reason }) => `${what} (${reason})`).join('; ')
  return new PrecheckError('ERR_STRICT_LOSSES', `${media.path}: the output cannot carry ${named}.`, {
    input: media.path,
    remedies: ['Choose another container with --output or the preset, or leave out --strict.'],
  })
}
