import { JobFailedError, UsageError } from '../../core/errors.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media-info.js'
import { indexDrifts, mayDrift } from '../probe/clock-drift.js'
import { hasGuessedTimes } from '../probe/frame-times.js'
import { MalformedFile, malformedReason } from '../probe/malformed-file.js'
import { requireCopyablePictures } from '../probe/movie/edit-lists.js'
import { needsWalk, type TrackWalk, walkTrack } from '../probe/track-walk.js'
import { aviSound } from './avi/avi.js'
import { type BytePlan, offsetMap } from './byte-plan.js'
import { type Census, censusFaults } from './census.js'
import { soundChunks } from './chunks/chunks.js'
import { aacCoderOptions } from './encode/aac-coder.js'
import { type AudioChoices, type AudioEncoding, audioEncoding, mixedTrack } from './encode/audio-encoding.js'
import { dolbyOptions } from './encode/dolby-settings.js'
import { proveEncoder } from './encode/encoder-priming.js'
import { elementaryFrames } from './frames/elementary.js'
import { flacFrames } from './frames/flac.js'
import { oggFrames } from './frames/ogg.js'
import { repeatedCommentLosses } from './frames/repeated-comments.js'
import { signedTagLosses } from './frames/signed-tag.js'
import { isoBmff } from './iso-bmff/iso-bmff.js'
import { leadInNotes } from './lead-in-notes.js'
import { matroska } from './matroska/matroska.js'
import { pcmInPlace } from './pcm-in-place/pcm-in-place.js'
import { donorFault } from './prove-donor.js'
import { programSound } from './ps/program.js'
import { tagLosses } from './remux/changed-tags.js'
import { earlyLeadInSec } from './remux/first-sound.js'
import { newStreams } from './remux/mux-command.js'
import { type MuxOptions, type MuxPlan, planMux, planOwnFile, type SplicePlans } from './remux/mux-plan.js'
import { censusLosses, remuxCensus } from './remux/remux-census.js'
import { requireClear } from './require-clear.js'
import type { SpliceableTrack } from './splice/old-packets.js'
import { unspliceable } from './splice/same-coding.js'
import { type DonorSource, resolveDonors } from './splice/spliced-packets.js'
import { withSameSetUp } from './splice/vorbis-setting.js'
import { transportSound } from './ts/transport.js'
import { type DonorFormat, declines, type Survey, type Wanted, type Writer } from './writer.js'
import type { Declined, Writing } from './writing.js'

export interface PlanOutputOptions extends MuxOptions {
  readonly signal?: AbortSignal | undefined
}

type TakenWriting = Writing & { readonly kind: 'bytes' }

/** A lead-in as long as verification allows. */
const LEAST_LEAD_SEC = 0.001

/** All frames of E-AC-3 have one length, so an AVI states the right clock for them. Only ffmpeg's reader misreads it. */
const EQUAL_FRAMES = 'eac3'

/** A writer that would take a file if some of its tracks had another codec. */
interface Untaken extends Declined {
  readonly tracks: ReadonlySet<AudioStreamInfo>
}

/** Asks a writer for a plan; hides its types of structure and packets. */
type PlanWithWriter = (
  wanted: Wanted,
  signal: AbortSignal | undefined,
) => Promise<TakenWriting | Untaken | Declined | null>

/** In the order in which voxmux asks them. */
const WRITERS: readonly PlanWithWriter[] = [
  planWith(pcmInPlace),
  planWith(isoBmff),
  planWith(matroska),
  planWith(aviSound),
  planWith(transportSound),
  planWith(programSound),
  planWith(soundChunks),
  planWith(elementaryFrames),
  planWith(flacFrames),
  planWith(oggFrames),
]

/**
 * Chooses the writer of the output before anything is sent: the first writer that supports the input, else ffmpeg's
 * remux. Reads the input's structure and writes nothing.
 *
 * @throws the errors of `planMux`
 * @throws {PrecheckError} ERR_CLOCK_OVERLAPS, ERR_CLOCK_JUMPS, ERR_EDIT_LIST, ERR_TRACK_ENCRYPTED
 * @throws {UsageError} ERR_ENCODER_REFUSES, ERR_CONTAINER_UNKNOWN
 */
export async function planOutput(given: MediaInfo, options: PlanOutputOptions): Promise<MuxPlan> {
  const { media, ...walked } = await walkReplaced(given, options)
  const measured = { ...options, ...walked }
  const aacOptions = encodesAac(planMux(media, measured)) ? await aacCoderOptions() : []
  const ownOptions = await dolbyOptions(media, options)
  const plan = await chooseWriter(media, { ...measured, aacOptions, ownOptions })
  for (const { encoding, input } of newStreams(plan)) {
    if (encoding.codec.startsWith('pcm_')) continue
    await proveEncoder(encoding, mixedTrack(input, options), options.signal)
  }
  return { ...plan, notes: [...plan.notes, ...(await leadInNotes(plan, options))] }
}

/** A writer keeps the codec of the input, even if ffmpeg's remux would choose another. */
function encodesAac(remux: MuxPlan): boolean {
  return newStreams(remux).some(({ encoding, input }) => encoding.codec === 'aac' || input.codec === 'aac')
}

/**
 * Reads the packets of tracks whose headers state too little. A track whose clock drifts is followed if it is encoded
 * whole; packets that stay outside parts need its own samples. A clock that wobbles has none for them.
 */
async function walkReplaced(media: MediaInfo, { replaced, inParts = [], signal }: PlanOutputOptions) {
  const measuredBitRates = new Map<number, number>()
  const whole = new Set<number>()
  const drifting = new Set<number>()
  const walks = new Map<number, TrackWalk>()
  for (const stream of audioStreams(media)) {
    const { audioIndex } = stream
    if (!replaced.includes(audioIndex)) continue
    const walk = needsWalk(media, stream) ? await walkTrack(media, stream, signal) : null
    const isTimed = !hasGuessedTimes(media, stream)
    if (walk && isTimed) walks.set(stream.index, walk)
    if (walk?.bitRate && isTimed) measuredBitRates.set(audioIndex, walk.bitRate)
    if (walk?.wobbles || !inParts.includes(audioIndex)) whole.add(audioIndex)
    if (!whole.has(audioIndex) || !mayDrift(media, stream)) continue
    if (walk?.drifts ?? (await indexDrifts(media, stream))) drifting.add(stream.index)
  }
  const streams = media.streams.map((stream) =>
    stream.kind === 'audio'
      ? {
          ...stream,
          followsDrift: drifting.has(stream.index),
          packetCount: walks.get(stream.index)?.packetCount ?? null,
          packetsStartSec: walks.get(stream.index)?.startSec ?? null,
          packetsEndSec: walks.get(stream.index)?.endSec ?? null,
        }
      : stream,
  )
  const splicable = inParts.filter((audioIndex) => !whole.has(audioIndex))
  return { media: { ...media, streams }, measuredBitRates, inParts: splicable }
}

async function chooseWriter(media: MediaInfo, options: PlanOutputOptions): Promise<MuxPlan> {
  const remux = planMux(media, options)
  if (remux.container !== media.container || options.keepOriginal || options.addTrack) {
    return remuxPlan(remux, [], options.signal)
  }
  const own = wantedTracks(media, remux, options)
  const declined: Declined[] = []
  for (const ask of WRITERS) {
    let wanted = own
    let answer = await ask(wanted, options.signal)
    if (answer !== null && 'tracks' in answer) {
      wanted = wantedTracks(media, remux, options, answer.tracks)
      answer = await ask(wanted, options.signal)
    }
    if (answer === null) continue
    if ('kind' in answer) {
      const encodings = new Map(wanted.tracks.map(({ input, encoding }) => [input.audioIndex, encoding]))
      return planOwnFile(remux, encodings, { ...answer, declined }, await planSplices(wanted, answer, options))
    }
    declined.push({ writer: answer.writer, reason: answer.reason })
  }
  return remuxPlan(remux, declined, options.signal)
}

/** The request to a writer. @param recoded tracks whose own codec it cannot write, which the remux may replace */
function wantedTracks(
  media: MediaInfo,
  remux: MuxPlan,
  { replaced, ...choices }: PlanOutputOptions,
  recoded?: ReadonlySet<AudioStreamInfo>,
): Wanted {
  const inputs = audioStreams(media).filter(({ audioIndex }) => replaced.includes(audioIndex))
  const tracks = inputs.map((input) => {
    const keepsCodec = !recoded?.has(input) && (input.codec === EQUAL_FRAMES || !hasGuessedTimes(media, input))
    const encoding = ownEncoding(input, remux, choices, keepsCodec)
    return { input, encoding, channels: mixedTrack(input, choices).channels }
  })
  return { media, tracks }
}

/** A plan for ffmpeg's remux, with the structures that it loses. */
async function remuxPlan(plan: MuxPlan, declined: readonly Declined[], signal?: AbortSignal): Promise<MuxPlan> {
  requireRemuxable(plan)
  const census = await remuxCensus(plan, signal)
  const { media } = plan
  const tags = [await tagLosses(plan, signal), await signedTagLosses(media), await repeatedCommentLosses(media)]
  const losses = [...plan.losses, ...censusLosses(census, media), ...tags.flat()]
  return { ...plan, losses, writing: { kind: 'remux', declined, census } }
}

/** Refuses an output that ffmpeg cannot write on the clock of the input, or without the key of a track. */
function requireRemuxable(plan: MuxPlan): void {
  const { media, profile, container } = plan
  requireCopyablePictures(media)
  requireClear(plan)
  if (profile.muxer !== 'ogg' || media.startSec + earlyLeadInSec(plan) > -LEAST_LEAD_SEC) return
  throw new UsageError(
    'ERR_CONTAINER_UNKNOWN',
    `The sound of ${media.path} begins before zero, as in Speex, which ffmpeg cannot write into .${container}.`,
    { input: media.path, remedies: ['Choose another format, for example with --output-type flac.'] },
  )
}

/** Finds out which tracks that change in parts can keep the packets outside them. */
async function planSplices(
  { tracks }: Wanted,
  { splice }: TakenWriting,
  { inParts = [] }: PlanOutputOptions,
): Promise<SplicePlans> {
  const plans = new Map<number, SpliceableTrack<unknown> | string>()
  for (const [place, { input, encoding }] of tracks.entries()) {
    if (encoding.lossless || !inParts.includes(input.audioIndex)) continue
    plans.set(input.audioIndex, await splice(place))
  }
  return plans
}

/** Keeps the file's own codec, even if the remux does not support it in that container. */
function ownEncoding(
  input: AudioStreamInfo,
  { profile, streams }: MuxPlan,
  wishes: AudioChoices,
  keepsCodec: boolean,
): AudioEncoding {
  const kept = input.codec && keepsCodec ? [input.codec] : []
  const carriesOwn = { ...profile, audioCodecs: [...kept, ...profile.audioCodecs] }
  const planned = streams.find((stream) => stream.fate === 'replaced' && stream.input === input)
  const own = audioEncoding(input, carriesOwn, wishes)
  if (own) return own
  if (planned?.fate === 'replaced') return planned.encoding
  throw new JobFailedError('ERR_INTERNAL', `No encoding is planned for audio track ${input.audioIndex}.`)
}

/** Some structures are only read by the survey: offsets of other tracks, for example. */
function surveyOf<Parsed, Donor>({ survey }: Writer<Parsed, Donor>, parsed: Parsed, wanted: Wanted): Survey {
  try {
    return survey(parsed, wanted)
  } catch (error) {
    return declines(malformedReason(error))
  }
}

function planWith<Parsed, Donor>(writer: Writer<Parsed, Donor>): PlanWithWriter {
  const readDonor: typeof writer.readDonor = (...donor) =>
    writer.readDonor(...donor).catch((error: unknown) => {
      if (!(error instanceof MalformedFile)) throw error
      throw new JobFailedError('ERR_ENCODER_OUTPUT', `voxmux cannot use the encoded voice: ${error.message}.`)
    })
  return async (wanted, signal) => {
    const parsed = await writer.parse(wanted.media, signal).catch(malformedReason)
    if (parsed === null) return null
    if (typeof parsed === 'string') return { writer: writer.name, reason: parsed }
    const survey = surveyOf(writer, parsed, wanted)
    if (survey.kind === 'declines') return { writer: writer.name, reason: survey.reason }
    const { census, donors, lostStreams, levels = [] } = survey
    const [fault] = censusFaults(census, wanted.media.sizeBytes)
    if (fault) {
      return {
        writer: writer.name,
        reason: `its structure has a ${fault.kind} of ${fault.length} bytes at ${fault.start}`,
      }
    }
    const untaken = new Map<AudioStreamInfo, string>()
    for (const [place, track] of wanted.tracks.entries()) {
      const read = (path: string) => readDonor(path, track, signal, parsed)
      const fault = await donorFault(track, donors[place] as DonorFormat, read, signal)
      if (fault !== null) untaken.set(track.input, fault)
    }
    const [reason] = untaken.values()
    if (reason !== undefined) return { writer: writer.name, reason, tracks: new Set(untaken.keys()) }
    const layOut = async (sources: readonly DonorSource[], stop: AbortSignal | undefined) => {
      const read: Donor[] = []
      for (const [place, track] of wanted.tracks.entries()) {
        const source = sources[place]
        // The same writer made the track.
        if (source?.kind === 'spliced') read.push((source.track as SpliceableTrack<Donor>).donorOf(source.packets))
        else read.push(await readDonor(source?.path ?? '', track, stop, parsed))
      }
      return resolveDonors(checked(writer.layOut(parsed, wanted, read), census, wanted.media), sources)
    }
    const splice = async (place: number) => {
      const track = wanted.tracks[place]
      const reason = track && unspliceable(track)
      const found = reason ?? (await writer.splice?.(parsed, wanted, place)) ?? 'its container has no separate packets'
      return typeof found === 'string' || !track ? found : withSameSetUp(found, track, signal)
    }
    return { kind: 'bytes', writer: writer.name, census, lostStreams, levels, donors, splice, layOut, declined: [] }
  }
}

/** Checks that a layout keeps every structure that the census calls kept. */
function checked(plan: BytePlan, census: Census, media: MediaInfo): BytePlan {
  const map = offsetMap(plan)
  for (const { path, fate, start, length } of census) {
    if (fate !== 'kept' || length === 0 || map.keeps(start, length)) continue
    throw new JobFailedError('ERR_CENSUS_BROKEN', `The layout of the output does not keep ${path}.`, {
      input: media.path,
      remedies: ['This is a bug in voxmux. Report it with the name of the structure.'],
    })
  }
  return plan
}
