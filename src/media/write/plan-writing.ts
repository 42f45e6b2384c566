import { JobFailedError, PrecheckError, UsageError } from '../../core/errors.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media-info.js'
import { indexDrifts, mayDrift } from '../probe/clock-drift.js'
import { hasGuessedTimes } from '../probe/frame-times.js'
import { requireCopyablePictures } from '../probe/movie/edit-lists.js'
import { needsWalk, type TrackWalk, walkTrack } from '../probe/track-walk.js'
import { refusedFile } from '../refused-file.js'
import { aviSound } from './avi/avi.js'
import { soundChunks } from './chunks/chunks.js'
import { aacCoderOptions } from './encode/aac-coder.js'
import { type AudioChoices, type AudioEncoding, audioEncoding, mixedTrack } from './encode/audio-encoding.js'
import { dolbyOptions } from './encode/dolby-settings.js'
import { proveEncoder } from './encode/encoder-priming.js'
import { dualMonoLosses } from './frames/dual-mono.js'
import { elementaryFrames } from './frames/elementary.js'
import { flacFrames } from './frames/flac.js'
import { oggFrames } from './frames/ogg.js'
import { repeatedCommentLosses } from './frames/repeated-comments.js'
import { signedTagLosses } from './frames/signed-tag.js'
import { skippedStartLosses } from './frames/skipped-start.js'
import { isoBmff } from './iso-bmff/iso-bmff.js'
import { matroska } from './matroska/matroska.js'
import { pcmInPlace } from './pcm-in-place/pcm-in-place.js'
import { type PlanWithWriter, planWith, type TakenWriting } from './plan-with-writer.js'
import { primingNotes } from './priming-notes.js'
import { programSound } from './ps/program.js'
import { tagLosses } from './remux/changed-tags.js'
import { earlyPrimingSec } from './remux/first-sound.js'
import { newStreams } from './remux/mux-command.js'
import { type MuxOptions, type MuxPlan, planMux, planOwnFile, type SplicePlans } from './remux/mux-plan.js'
import { censusLosses, remuxCensus } from './remux/remux-census.js'
import type { SpliceableTrack } from './splice/old-packets.js'
import { transportSound } from './ts/transport.js'
import type { Wanted } from './writer.js'
import type { Declined } from './writing.js'

export interface PlanOutputOptions extends MuxOptions {
  readonly signal?: AbortSignal | undefined
}

/** Priming as long as verification allows. */
const LEAST_LEAD_SEC = 0.001

/** All frames of E-AC-3 have one length, so an AVI states the right clock for them. Only ffmpeg's reader misreads it. */
const EQUAL_FRAMES = 'eac3'

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
 * @throws {PrecheckError} ERR_CLOCK_OVERLAPS, ERR_CLOCK_JUMPS, ERR_EDIT_LIST, ERR_TRACK_ENCRYPTED, ERR_UNSUPPORTED_CODEC
 * @throws {UsageError} ERR_ENCODER_REFUSES, ERR_CONTAINER_UNKNOWN
 */
export async function planOutput(given: MediaInfo, options: PlanOutputOptions): Promise<MuxPlan> {
  const { media, ...walked } = await walkReplaced(given, options)
  const measured = { ...options, ...walked }
  const aacOptions = encodesAac(planMux(media, measured)) ? await aacCoderOptions() : []
  const ownOptions = await dolbyOptions(media, options)
  return chooseWriter(media, { ...measured, aacOptions, ownOptions })
}

/** A plan whose encoders accept the voices, with what they lose of a track and what their priming replaces. */
async function provedPlan(plan: MuxPlan, options: PlanOutputOptions): Promise<MuxPlan> {
  for (const { encoding, input } of newStreams(plan)) {
    if (encoding.codec.startsWith('pcm_')) continue
    await proveEncoder(encoding, mixedTrack(input, options), options.signal)
  }
  const losses = [...plan.losses, ...(await dualMonoLosses(plan.media, newStreams(plan)))]
  return { ...plan, losses, notes: [...plan.notes, ...(await primingNotes(plan, options))] }
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
    return remuxPlan(remux, [], options)
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
      const own = planOwnFile(remux, encodings, { ...answer, declined }, await planSplices(wanted, answer, options))
      const { writer } = answer
      const instead: MuxPlan['instead'] = (reason, signal) =>
        remuxPlan(remux, [...declined, { writer, reason }], { ...options, signal })
      return provedPlan({ ...own, instead }, options)
    }
    declined.push({ writer: answer.writer, reason: answer.reason })
  }
  return remuxPlan(remux, declined, options)
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
async function remuxPlan(plan: MuxPlan, declined: readonly Declined[], options: PlanOutputOptions): Promise<MuxPlan> {
  requireRemuxable(plan)
  const { signal } = options
  const census = await remuxCensus(plan, signal)
  const { media } = plan
  const others = [
    await tagLosses(plan, signal),
    await signedTagLosses(media),
    await repeatedCommentLosses(media),
    await skippedStartLosses(media),
  ]
  const losses = [...plan.losses, ...censusLosses(census, media), ...others.flat()]
  return provedPlan({ ...plan, losses, writing: { kind: 'remux', declined, census } }, options)
}

/** Refuses an output that ffmpeg cannot write on the clock of the input, or without the key of a track. */
function requireRemuxable(plan: MuxPlan): void {
  const { media, profile, container } = plan
  requireCopyablePictures(media)
  requireClear(plan)
  if (profile.muxer !== 'ogg' || media.startSec + earlyPrimingSec(plan) > -LEAST_LEAD_SEC) return
  const message = `The sound of ${media.path} begins before zero, as in Speex, which ffmpeg cannot write into .${container}.`
  const hint = { input: media.path, remedies: ['Choose another format, for example with --output-type flac.'] }
  if (container === media.container) throw refusedFile(-7, 'ERR_UNSUPPORTED_CODEC', message, hint)
  throw new UsageError('ERR_CONTAINER_UNKNOWN', message, hint)
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

/**
 * Refuses encrypted tracks in a copy: ffmpeg leaves out the description of their keys.
 *
 * @throws {PrecheckError} ERR_TRACK_ENCRYPTED
 */
function requireClear({ media, streams }: MuxPlan): void {
  const locked = streams.find(({ fate, input }) => fate === 'copied' && input.isEncrypted)
  if (!locked) return
  const name = `${locked.input.kind} stream ${locked.input.index}`
  throw new PrecheckError('ERR_TRACK_ENCRYPTED', `Ffmpeg copies no keys, and ${name} of ${media.path} is encrypted.`, {
    input: media.path,
    remedies: ['Use the file before encryption.'],
  })
}
