import { extname, join, resolve } from 'node:path'
import { PrecheckError } from '../core/errors.js'
import { formatTime } from '../core/time.js'
import { cutEncoding, type MuxOptions, type MuxPlan, planMux, probe } from '../media/index.js'
import type { MediaInfo } from '../media/media-info.js'
import type { Limits } from '../precheck/index.js'
import { chunkForecast } from './chunk-lengths.js'
import type { JobSettings } from './job-settings.js'
import { judge, type Verdicts } from './judge.js'
import { namedContainer, outputFormat } from './output-format.js'
import { namesFolder, outputPath } from './output-path.js'
import { pickedChannels } from './pick-channels.js'
import { pieceSec, planTracks, type TrackPlan } from './plan-tracks.js'

/** What a job is asked for. */
export interface PlanRequest {
  /** Of events before the ledger knows the job. */
  readonly provisionalId: string
  /** Absolute path. */
  readonly input: string
  /** As typed; see `outputPath`. */
  readonly output: string | undefined
  /** Name of an output whose name is ours to choose, without its extension; undefined: the input's and a label. */
  readonly outputStem?: string | undefined
  readonly cwd: string
  /** Jobs of one group take turns with those of others. */
  readonly group: string
  readonly settings: JobSettings
  /** The service fetches the input itself; it must be an address. */
  readonly remote: boolean
  /** An untouched output of an older version of the input gives way. */
  readonly supersede?: boolean
}

/** Everything that is decided about a job before anything is cut, sent or written. */
export interface JobPlan {
  readonly media: MediaInfo
  readonly output: string
  readonly tracks: readonly TrackPlan[]
  readonly verdicts: Verdicts
  readonly mux: MuxPlan
  /** Set where `--strict` refuses what the output cannot carry. */
  readonly strictRefusal: PrecheckError | undefined
  /** What a person should know before and after, and that is no loss. */
  readonly notes: readonly string[]
  /** Seconds of voice that will be sent, at the most; null where the file does not say how long it is. */
  readonly paidSec: number | null
  /** Most bytes that the voice takes: what is sent is smaller as a rule. */
  readonly sendBytes: number
  /** Room that the output needs. */
  readonly outputBytes: number
  /** Room that cuts, answers and spooled tracks need in the state folder. */
  readonly workBytes: number
}

/** Room besides what is computed: indices, receipts, file system overhead. */
const SPARE_BYTES = 32 * 1024 ** 2

/**
 * Plans a job: probes the file, chooses tracks, channels and parts, judges them, and decides what the output is.
 * Reads the input and writes nothing.
 *
 * @throws what probing and choosing throw: unreadable files, tracks and segments that are not there
 */
export async function planJob(
  request: PlanRequest,
  limits: Limits,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<JobPlan> {
  return planMedia(await probe(resolve(request.cwd, request.input), options), request, limits)
}

/** {@link planJob} of a file that has been probed already; throws what choosing throws. */
export async function planMedia(media: MediaInfo, request: PlanRequest, limits: Limits): Promise<JobPlan> {
  const { settings } = request
  const tracks = planTracks(media, settings, limits)
  const verdicts = judge(media, tracks, settings, limits)
  const isFolder = request.output !== undefined && (await namesFolder(request.output, request.cwd))
  const mux = planMux(media, muxOptions(media, tracks, settings, isFolder ? undefined : request.output))
  const output = await outputPath({
    input: media.path,
    output: request.output,
    stem: request.outputStem,
    extension: mux.container === media.container ? extname(media.path) : `.${mux.profile.extension}`,
    label: settings.previewSec === null ? 'regen' : 'preview',
    cwd: request.cwd,
  })
  const forecasts = tracks.map((track) => forecastTrack(media, track))
  const sendBytes = tracks.reduce((sum, track) => sum + voiceBytes(media, track), 0)
  return {
    media,
    output,
    tracks,
    verdicts,
    mux,
    strictRefusal: settings.strict ? strictRefusal(media, mux) : undefined,
    notes: [...mux.notes, ...forecasts.flatMap(({ notes }) => notes)],
    paidSec: forecasts.reduce<number | null>((sum, { sentSec }) => addKnown(sum, sentSec), 0),
    sendBytes,
    outputBytes: media.sizeBytes + sendBytes + SPARE_BYTES,
    // Cuts, their parts, and the answers.
    workBytes: 3 * sendBytes + SPARE_BYTES,
  }
}

/** The cut requests of a plan, in the order of its tracks and pieces. */
export function cutRequests(plan: JobPlan, folder: string) {
  return plan.tracks
    .flatMap(({ pieces }) => pieces)
    .map(({ audioIndex, channels, cut }, index) => ({
      audioIndex,
      channels,
      range: cut,
      targetWithoutExtension: join(folder, `voice-${index}`),
    }))
}

function muxOptions(
  media: MediaInfo,
  tracks: readonly TrackPlan[],
  { recipe, outputType }: JobSettings,
  outputFile: string | undefined,
): MuxOptions {
  return {
    replaced: tracks.map(({ stream }) => stream.audioIndex),
    ...(outputType === null
      ? { container: namedContainer(media, outputFile) }
      : outputFormat(media, outputType, outputFile)),
    fallbackContainer: recipe.audio.container,
    fallbackCodec: recipe.audio.codec,
    fallbackBitRate: recipe.audio.bitRate,
    keepOriginal: recipe.keepOriginal,
  }
}

/** What of a track will be sent, at the most. */
function forecastTrack(media: MediaInfo, { stream, pieces }: TrackPlan) {
  const lengths = pieces.map((piece) => ({ piece, sec: pieceSec(media, stream, piece) }))
  const forecasts = lengths.map(({ piece, sec }) => (sec === null ? null : chunkForecast(sec, piece.chunks)))
  const divided = forecasts.filter((forecast) => forecast !== null && forecast.count > 1)
  const count = divided.reduce((sum, forecast) => sum + (forecast?.count ?? 0), 0)
  const longest = formatTime(divided[0]?.longestSec ?? 0)
  return {
    sentSec: forecasts.reduce<number | null>((sum, forecast) => addKnown(sum, forecast?.sentSec ?? null), 0),
    notes:
      count > 0
        ? [`Audio track ${stream.audioIndex} is sent in about ${count} parts of at most ${longest}, cut at pauses.`]
        : [],
  }
}

function addKnown(sum: number | null, sec: number | null): number | null {
  return sum === null || sec === null ? null : sum + sec
}

/** As much as the voices take uncompressed; FLAC makes it about half. */
function voiceBytes(media: MediaInfo, { stream, pieces }: TrackPlan): number {
  return pieces.reduce((sum, piece) => {
    const sec = pieceSec(media, stream, piece) ?? 0
    const channels = pickedChannels(piece.channels, stream)
    return sum + Math.ceil((sec * stream.sampleRate * channels * cutEncoding(stream, channels).bits) / 8)
  }, 0)
}

function strictRefusal(media: MediaInfo, mux: MuxPlan): PrecheckError | undefined {
  if (mux.losses.length === 0) return undefined
  const named = mux.losses.map(({ what, reason }) => `${what} (${reason})`).join('; ')
  return new PrecheckError('ERR_STRICT_LOSSES', `${media.path}: the output cannot carry ${named}.`, {
    input: media.path,
    remedies: ['Choose another container with --output or the preset, or leave --strict out.'],
  })
}
