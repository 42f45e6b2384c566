import { UsageError } from '../../../core/errors.js'
import { audioStreams, isFilm, type MediaInfo, pictureOf, type StreamInfo } from '../../media-info.js'
import { containerProfile, isSoundContainer } from '../container-profile.js'
import { type AudioEncoding, codecChange } from '../encode/audio-encoding.js'
import type { SpliceableTrack } from '../splice/old-packets.js'
import type { Writing } from '../writing.js'
import { earlySoundLosses } from './first-picture.js'
import { firstSoundLosses } from './first-sound.js'
import { hasTrackMark } from './mend/track-mark.js'
import { fileLosses, type MuxLoss } from './mux-losses.js'
import { oldFactLosses } from './old-fact-tags.js'
import { cutSoundLosses, isBoundToPictures } from './picture-length.js'
import {
  CLEAR_DIALOGUE,
  isNewStream,
  type MuxOptions,
  type NewStream,
  type PlannedStream,
  type PlannedStreams,
  planStreams,
} from './plan-streams.js'
import { soundFieldLosses, streamLosses } from './stream-losses.js'

export type { MuxOptions, PlannedStream } from './plan-streams.js'

/** Everything that is decided before a file is written. */
export interface MuxPlan extends PlannedStreams {
  /** Everything that the output cannot carry, with reasons. If empty, only the voice changes. */
  readonly losses: readonly MuxLoss[]
  /** Facts for the user that are not losses. */
  readonly notes: readonly string[]
  /** The writer of the output and the fate of each structure of the input. */
  readonly writing: Writing
  /** Plans ffmpeg's remux, if the file's own bytes turn out to be unfit for the new sound. Undefined for a remux. */
  readonly instead?: (reason: string, signal: AbortSignal | undefined) => Promise<MuxPlan>
  /** Replaced tracks whose packets outside the changed parts stay, by place among the audio streams. */
  readonly splicedTracks?: readonly number[]
  /** Those of {@link splicedTracks} that can be read in parts: the packets of any time are found without decoding those before. */
  readonly indexedTracks?: readonly number[]
}

/** The streams of {@link MuxPlan.splicedTracks}. */
export function splicedStreams({ streams, splicedTracks = [] }: MuxPlan): readonly PlannedStream[] {
  return streams.filter(({ fate, input }) => {
    return fate === 'replaced' && input.kind === 'audio' && splicedTracks.includes(input.audioIndex)
  })
}

/**
 * Decides the fate of every stream, tag and chapter. Pure: reads no file.
 *
 * @throws {UsageError} ERR_NO_SUCH_TRACK, ERR_CONTAINER_UNKNOWN, ERR_NO_ENCODER, ERR_PICTURE_LOST
 * @throws {PrecheckError} ERR_SEVERAL_TRACKS
 */
export function planMux(media: MediaInfo, options: MuxOptions): MuxPlan {
  for (const place of options.replaced) {
    if (audioStreams(media)[place]) continue
    throw new UsageError('ERR_NO_SUCH_TRACK', `${media.path} has no audio track ${place}.`, { input: media.path })
  }
  const container = targetContainer(media, options)
  const profile = containerProfile(container)
  if (!profile) {
    throw new UsageError('ERR_CONTAINER_UNKNOWN', `voxmux does not write .${container} files.`, {
      input: media.path,
      remedies: [
        `Choose another container, for example ${media.streams.some(isFilm) ? 'mkv or mov' : 'wav, flac or m4a'}.`,
      ],
    })
  }
  const streams = planStreams(media, container, profile, options)
  requirePicture(media, container, streams)
  const old = streams.flatMap(({ fate, input }) => (fate === 'dropped' || fate === 'added' ? [] : [input]))
  const made = streams.filter(isNewStream)
  const voices = made.map(({ input }) => input)
  const losses: MuxLoss[] = [
    ...streams.flatMap((stream) =>
      stream.fate === 'dropped' && stream.isLoss
        ? [{ what: describeStream(stream.input), stream: stream.input.index, reason: stream.reason }]
        : [],
    ),
    ...streams.flatMap((stream) =>
      stream.fate === 'converted'
        ? [{ what: `codec of ${describeStream(stream.input)}`, stream: stream.input.index, reason: stream.reason }]
        : [],
    ),
    ...streamLosses(old, container),
    ...soundFieldLosses(made, container),
    ...(isBoundToPictures(profile, media) ? cutSoundLosses(voices, media, container) : []),
    ...fileLosses(media, container, profile),
    ...oldFactLosses(media, streams),
    ...earlySoundLosses({ media, container, streams }),
    ...firstSoundLosses(media, made),
  ]
  const writing: Writing = { kind: 'remux', declined: [], census: null }
  const loudness = media.statesLoudness
    ? [`The loudness figures of its bext chunk ${container === 'wav' ? 'are measured again' : 'are left out'}.`]
    : []
  const facts = [...notes(media, container, streams), ...loudness]
  return { media, container, profile, streams, losses, notes: facts, writing }
}

/**
 * Plans an output that is the input with new audio in it. Every other stream stays unchanged, in order, unless the writer
 * must leave it out. Pure.
 *
 * @param encodings of the replaced tracks, by their place among the audio streams
 * @param splices of those that change only in parts
 */
export function planOwnFile(
  plan: MuxPlan,
  encodings: ReadonlyMap<number, AudioEncoding>,
  writing: Writing & { readonly kind: 'bytes' },
  splices: SplicePlans = new Map(),
): MuxPlan {
  const { media } = plan
  const lost = writing.lostStreams ?? new Set()
  const written = media.streams.filter(({ index }) => !lost.has(index))
  const streams = media.streams.map((input): PlannedStream => {
    if (lost.has(input.index)) {
      const reason = 'it describes the packets of the old sound'
      return { fate: 'dropped', input, outputIndex: null, reason, isLoss: true }
    }
    const encoding = input.kind === 'audio' ? encodings.get(input.audioIndex) : undefined
    const as = { outputIndex: written.indexOf(input), dispositions: input.dispositions, title: null }
    if (input.kind !== 'audio' || !encoding) return { fate: 'copied', input, ...as, reason: null }
    const reason = codecChange(input, encoding)
    return { fate: 'replaced', input, ...as, encoding, reason }
  })
  const spliced = [...splices].filter(([, splice]) => typeof splice !== 'string')
  const splicedTracks = spliced.map(([track]) => track)
  const indexedTracks = spliced.flatMap(([track, splice]) =>
    typeof splice !== 'string' && splice.isIndexed ? [track] : [],
  )
  const losses = new Map<string, MuxLoss>()
  for (const { fate, path, reason } of writing.census) {
    // A stream of segments has a tag for each of them.
    const loss = { what: path, stream: null, reason: reason ?? 'the writer cannot keep it' }
    if (fate === 'lost') losses.set(`${path}: ${loss.reason}`, loss)
  }
  const facts = notes(media, plan.container, streams, splices)
  return { ...plan, streams, losses: [...losses.values()], notes: facts, writing, splicedTracks, indexedTracks }
}

/** Throws if the output would lose the main picture, unless the container holds only audio. */
function requirePicture(media: MediaInfo, container: string, streams: readonly PlannedStream[]): void {
  if (isSoundContainer(container)) return
  const picture = pictureOf(media)
  const lost = streams.find(({ fate, input }) => fate === 'dropped' && input === picture)
  if (!lost) return
  throw new UsageError('ERR_PICTURE_LOST', `${media.path} would lose its picture: ${lost.reason}.`, {
    input: media.path,
    remedies: ['Name the output .mkv to keep the picture, or .mka, .m4a or .wav to write only the audio.'],
  })
}

/** Describes a stream for the user: `subtitle stream 3 (subrip, ger)`. */
function describeStream(stream: StreamInfo): string {
  const facts = [stream.codec ?? stream.codecTag ?? 'unknown codec', stream.language].filter((fact) => fact !== null)
  return `${stream.kind} stream ${stream.index} (${facts.join(', ')})`
}

function targetContainer(media: MediaInfo, options: MuxOptions): string {
  if (options.container) return options.container
  return containerProfile(media.container) ? media.container : (options.fallbackContainer ?? 'mkv')
}

/** Bits of a sample that ffmpeg's lossless encoders write at least. */
const LEAST_BITS = 16

/** Tracks that change in parts, by place among the audio streams; a string is the reason why no packets can stay. */
export type SplicePlans = ReadonlyMap<number, Pick<SpliceableTrack<unknown>, 'isIndexed'> | string>

function notes(
  media: MediaInfo,
  container: string,
  streams: readonly PlannedStream[],
  splices: SplicePlans = new Map(),
): readonly string[] {
  const moved = media.container === container ? [] : [`The output is .${container} (the input is .${media.container}).`]
  return [
    ...moved,
    ...streams.flatMap((stream) => {
      if (!isNewStream(stream)) return undecodedNote(stream)
      if (stream.fate === 'added') return [addedNote(stream, container)]
      const where = `Audio track ${stream.input.audioIndex}`
      const drift = stream.input.followsDrift ? [`${where} is stretched a little, because its clock drifts.`] : []
      if (stream.reason) return [`${where}: ${stream.reason}.`, ...drift]
      if (stream.encoding.lossless) return [...widthNote(stream, where), ...drift]
      const codec = `${where} is ${stream.encoding.codec}`
      const splice = splices.get(stream.input.audioIndex)
      if (typeof splice === 'object') return [`${codec}: only its packets around the regenerated parts are re-encoded.`]
      return [`${codec}: it is re-encoded from start to end${splice ? `, because ${splice}` : ''}.`, ...drift]
    }),
  ]
}

/** Spatial sound of a phone (APAC), or an encrypted language, beside the track that changes: players may decode it. */
function undecodedNote({ input, fate }: PlannedStream): readonly string[] {
  if (fate !== 'copied' || input.kind !== 'audio' || (input.codec !== null && !input.isEncrypted)) return []
  const coding = input.codec ?? input.codecTag
  const name = `Audio track ${input.audioIndex}${coding === null ? '' : ` (${coding})`}`
  return [`${name} keeps the old sound, because ffmpeg cannot decode it. A player that can may play it instead.`]
}

/** FLAC and the like hold 8 or 12 bits, but ffmpeg writes no fewer than 16 of them. The values of the samples stay. */
function widthNote({ input, encoding }: NewStream, where: string): readonly string[] {
  const bits = encoding.codec.startsWith('pcm_') ? null : input.bitsPerSample
  if (bits === null || bits >= LEAST_BITS) return []
  return [`${where} has ${bits} bits and becomes ${LEAST_BITS}, because ffmpeg writes no ${encoding.codec} of fewer.`]
}

function addedNote({ input, encoding, dispositions, title }: NewStream, container: string): string {
  const marked =
    dispositions.includes(CLEAR_DIALOGUE) || hasTrackMark(container)
      ? ''
      : ` .${container} has no mark for clear dialogue.`
  return `Audio track ${input.audioIndex} stays, and "${title}" (${encoding.codec}) is added after all tracks.${marked}`
}
