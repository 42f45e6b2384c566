import { PrecheckError, UsageError } from '../../../core/errors.js'
import { type AudioStreamInfo, isCover, type MediaInfo, pictureOf, type StreamInfo } from '../../media-info.js'
import type { ContainerProfile } from '../container-profile.js'
import {
  type AudioChoices,
  type AudioEncoding,
  audioEncoding,
  codecChange,
  mixedTrack,
} from '../encode/audio-encoding.js'
import { hasTrackMark } from './mend/track-mark.js'
import { keepsDisposition } from './stream-losses.js'
import { type StreamPassage, streamPassage } from './stream-passage.js'

/** ffmpeg's name of `FlagHearingImpaired` and of `audio_type` 2. `clean_effects` is all but the dialogue. */
export const CLEAR_DIALOGUE = 'hearing_impaired'

export interface MuxOptions extends AudioChoices {
  /** Audio tracks (`0:a:N`) that get a new voice. */
  readonly replaced: readonly number[]
  /** Those of them that change only in parts. */
  readonly inParts?: readonly number[] | undefined
  /** Target container by its usual extension; the input's own by default. */
  readonly container?: string | undefined
  /** Container to use if voxmux cannot write the input's own; `mkv` by default. */
  readonly fallbackContainer?: string | undefined
  /** Keep the original of each replaced track after the new one. */
  readonly keepOriginal?: boolean | undefined
  /** Leave every track as it is, and add the new ones after them. */
  readonly addTrack?: boolean | undefined
}

interface StreamInOutput {
  readonly outputIndex: number
  readonly dispositions: readonly string[]
  /** A new title; null for that of the input. */
  readonly title: string | null
}

/** A stream with a new voice. */
export interface NewStream extends StreamInOutput {
  /** `input` is the track that was regenerated. An added stream stands beside it. */
  readonly fate: 'replaced' | 'added'
  readonly input: AudioStreamInfo
  readonly encoding: AudioEncoding
  readonly reason: string | null
}

/** Fate of a stream. `outputIndex` is null for a dropped stream. */
export type PlannedStream =
  | (StreamInOutput & { readonly fate: 'copied'; readonly input: StreamInfo; readonly reason: string | null })
  | NewStream
  | (StreamInOutput & {
      readonly fate: 'converted'
      readonly input: StreamInfo
      readonly codec: string
      readonly reason: string
    })
  | (StreamPassage & { readonly fate: 'dropped' } & { readonly input: StreamInfo; readonly outputIndex: null })

/** An output, and what becomes of each stream. */
export interface PlannedStreams {
  readonly media: MediaInfo
  readonly container: string
  readonly profile: ContainerProfile
  /** In output order; dropped streams keep their place in the input. */
  readonly streams: readonly PlannedStream[]
}

/** True for a stream with a new voice. */
export function isNewStream(stream: PlannedStream): stream is NewStream {
  return stream.fate === 'replaced' || stream.fate === 'added'
}

/** A stream of the output. */
export type WrittenStream = Exclude<PlannedStream, { readonly fate: 'dropped' }>

/** The facts that decide the fate of a stream. */
interface Target extends Omit<PlannedStreams, 'streams'> {
  readonly options: MuxOptions
}

type Unnumbered<S> = S extends unknown ? Omit<S, 'outputIndex'> : never
type UnnumberedStream = Unnumbered<PlannedStream>

/**
 * Decides the fate of every stream, in output order.
 *
 * @throws {UsageError} ERR_NO_ENCODER, ERR_TRACK_NOT_ADDED
 * @throws {PrecheckError} ERR_SEVERAL_TRACKS
 */
export function planStreams(
  media: MediaInfo,
  container: string,
  profile: ContainerProfile,
  options: MuxOptions,
): readonly PlannedStream[] {
  const target = { media, container, profile, options }
  requireOneSound(target)
  let outputIndex = 0
  return inTargetOrder(media.streams, profile, options)
    .flatMap((placed) => fatesOf(placed, target))
    .map((stream) =>
      stream.fate === 'dropped' ? { ...stream, outputIndex: null } : { ...stream, outputIndex: outputIndex++ },
    )
}

/** The streams of the output that an input stream becomes, and itself if it is dropped. */
function fatesOf({ input, isAdded }: Placed, target: Target): readonly UnnumberedStream[] {
  const { media, container, profile, options } = target
  if (isAdded) return [addedStream(newStream(input, target), container)]
  const passed = () => passStream(streamPassage(input, media, container, profile), input)
  if (input.kind !== 'audio') return [passed()]
  const isSingle = holdsOneSound(profile)
  const [soleIndex = 0] = options.replaced
  if (isSingle && input.audioIndex !== soleIndex) return [withoutRoom(input, container)]
  if (!options.replaced.includes(input.audioIndex)) return [passed()]
  const made = options.addTrack ? [] : [newStream(input, target)]
  if (!options.addTrack && !options.keepOriginal) return made
  if (!options.addTrack && isSingle) return [...made, withoutRoom(input, container)]
  const original = passed()
  if (options.addTrack) requireRoom(target, original)
  return [...made, options.keepOriginal && original.fate === 'copied' ? asOriginal(original) : original]
}

function holdsOneSound({ soundOnly, muxer }: ContainerProfile): boolean {
  return soundOnly || muxer === 'flv'
}

/** Refuses several new voices for an output that holds one: the others would be paid for, and lost. */
function requireOneSound({ media, container, profile, options: { replaced } }: Target): void {
  if (!holdsOneSound(profile) || replaced.length < 2) return
  const message = `${media.path}: ${replaced.length} audio tracks were chosen, and .${container} holds only one.`
  throw new PrecheckError('ERR_SEVERAL_TRACKS', message, {
    input: media.path,
    remedies: [
      'Choose one track with --track N (counted from 0).',
      `Name an output that holds several tracks, such as .${pictureOf(media) ? 'mkv' : 'mka'}.`,
    ],
  })
}

function withoutRoom(input: AudioStreamInfo, container: string): UnnumberedStream {
  const reason = `.${container} holds only one audio track`
  return { fate: 'dropped', input, reason, isLoss: true }
}

type Placed =
  | { readonly input: StreamInfo; readonly isAdded: false }
  | { readonly input: AudioStreamInfo; readonly isAdded: true }

/** Adds tracks after all others, so that these keep their numbers. Attached files come last, in their own order. */
function inTargetOrder(
  streams: readonly StreamInfo[],
  { covers }: ContainerProfile,
  { addTrack, replaced }: MuxOptions,
): readonly Placed[] {
  const isFile = (stream: StreamInfo) => covers === 'attached' && (stream.kind === 'attachment' || isCover(stream))
  const old = (input: StreamInfo): Placed => ({ input, isAdded: false })
  const added = streams.flatMap((input): readonly Placed[] =>
    addTrack && input.kind === 'audio' && replaced.includes(input.audioIndex) ? [{ input, isAdded: true }] : [],
  )
  return [...streams.filter((stream) => !isFile(stream)).map(old), ...added, ...streams.filter(isFile).map(old)]
}

/** Refuses an output that cannot hold the original as it is and one more track of sound. */
function requireRoom({ media, container, profile }: Target, original: UnnumberedStream): void {
  const isSingle = holdsOneSound(profile)
  if (!isSingle && original.fate === 'copied') return
  const why = isSingle ? `.${container} holds only one audio track` : original.reason
  throw new UsageError('ERR_TRACK_NOT_ADDED', `${media.path} cannot get another audio track: ${why}.`, {
    input: media.path,
    remedies: [`Name an output that holds several tracks, such as .${pictureOf(media) ? 'mkv' : 'mka'}.`],
  })
}

function newStream(input: AudioStreamInfo, { media, container, profile, options }: Target): Unnumbered<NewStream> {
  const encoding = audioEncoding(input, profile, options)
  if (!encoding) {
    const { channels } = mixedTrack(input, options)
    const message = `No codec that voxmux can write into .${container} holds ${channels} channels.`
    throw new UsageError('ERR_NO_ENCODER', message, {
      input: media.path,
      remedies: [
        'Choose another container, for example mkv or mov.',
        ...(channels > 2 ? ['To mix the sound to stereo, use --channels downmix.'] : []),
      ],
    })
  }
  const reason = codecChange(input, encoding)
  return { fate: 'replaced', input, dispositions: input.dispositions, title: null, encoding, reason }
}

/** Labels a new track beside its original, which stays the default. */
function addedStream(stream: Unnumbered<NewStream>, container: string): UnnumberedStream {
  const { dispositions, title } = stream.input
  const roles = dispositions.filter((disposition) => disposition !== 'default' && disposition !== CLEAR_DIALOGUE)
  return {
    ...stream,
    fate: 'added',
    dispositions:
      keepsDisposition(container, CLEAR_DIALOGUE) && !hasTrackMark(container) ? [...roles, CLEAR_DIALOGUE] : roles,
    title: title === null ? 'Clear dialogue' : `${title} (clear dialogue)`,
  }
}

function passStream(passage: StreamPassage, input: StreamInfo): UnnumberedStream {
  if (passage.fate === 'dropped') return { ...passage, input }
  return { ...passage, input, dispositions: input.dispositions, title: null }
}

/** Labels the original track that is kept beside the regenerated one, and takes away its default disposition. */
function asOriginal(stream: UnnumberedStream & { readonly fate: 'copied' }): UnnumberedStream {
  const name = stream.input.title
  return {
    ...stream,
    dispositions: stream.dispositions.filter((disposition) => disposition !== 'default'),
    title: name ? `${name} (original)` : 'Original',
    reason: 'kept beside the regenerated track',
  }
}
