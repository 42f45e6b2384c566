import { UsageError } from '../core/errors.js'
import { type AudioEncoding, type AudioWishes, audioEncoding } from './audio-encoding.js'
import { type ContainerProfile, containerProfile } from './container-profile.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo, type StreamInfo } from './media-info.js'
import { fileLosses, type MuxLoss } from './mux-losses.js'
import { streamLosses } from './stream-losses.js'
import { type StreamPassage, streamPassage } from './stream-passage.js'

export interface MuxOptions extends AudioWishes {
  /** Audio tracks (`0:a:N`) that get a new voice. */
  readonly replaced: readonly number[]
  /** Target container by its usual extension; the input's own by default. */
  readonly container?: string | undefined
  /** Container to take where the input's own cannot be written; `mkv` by default. */
  readonly fallbackContainer?: string | undefined
  /** Keep each replaced track as well, untouched, behind the new one. */
  readonly keepOriginal?: boolean | undefined
}

/** What becomes of a stream. `outputIndex` null: it is left out. */
export type PlannedStream =
  | {
      readonly fate: 'copied'
      readonly input: StreamInfo
      readonly outputIndex: number
      readonly dispositions: readonly string[]
      readonly title: string | null
      readonly reason: string | null
    }
  | {
      readonly fate: 'replaced'
      readonly input: AudioStreamInfo
      readonly outputIndex: number
      readonly encoding: AudioEncoding
      readonly reason: string | null
    }
  | {
      readonly fate: 'converted'
      readonly input: StreamInfo
      readonly outputIndex: number
      readonly codec: string
      readonly reason: string
    }
  | {
      readonly fate: 'dropped'
      readonly input: StreamInfo
      readonly outputIndex: null
      readonly reason: string
      readonly isLoss: boolean
    }

/** Everything that is decided before a file is written; nothing in it needs the file any more but {@link media}. */
export interface MuxPlan {
  readonly media: MediaInfo
  readonly container: string
  readonly profile: ContainerProfile
  /** In output order, what is left out at its input's place. */
  readonly streams: readonly PlannedStream[]
  /** What the output cannot carry, each with its reason. Empty: nothing but the voice changes. */
  readonly losses: readonly MuxLoss[]
  /** What a person should know and that is no loss. */
  readonly notes: readonly string[]
}

/**
 * Decides what becomes of every stream, tag and chapter. Pure: reads nothing.
 *
 * @throws UsageError ERR_NO_SUCH_TRACK, ERR_CONTAINER_UNKNOWN, ERR_NO_ENCODER
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
      remedies: ['Choose another container, for example mkv or mov.'],
    })
  }
  const streams = planStreams(media, container, profile, options)
  const written = streams.flatMap(({ fate, input }) => (fate === 'dropped' ? [] : [input]))
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
    ...streamLosses(written, container),
    ...fileLosses(media, container, profile),
  ]
  return { media, container, profile, streams, losses, notes: notes(media, container, streams) }
}

/** A stream in a person's words: `subtitle stream 3 (subrip, ger)`. */
export function describeStream(stream: StreamInfo): string {
  const facts = [stream.codec ?? stream.codecTag ?? 'unknown codec', stream.language].filter((fact) => fact !== null)
  const kind = stream.kind === 'unknown' ? 'unknown' : stream.kind
  return `${kind} stream ${stream.index} (${facts.join(', ')})`
}

function targetContainer(media: MediaInfo, options: MuxOptions): string {
  if (options.container) return options.container
  return containerProfile(media.container) ? media.container : (options.fallbackContainer ?? 'mkv')
}

function planStreams(
  media: MediaInfo,
  container: string,
  profile: ContainerProfile,
  options: MuxOptions,
): readonly PlannedStream[] {
  let outputIndex = 0
  const planned: PlannedStream[] = []
  let soundTaken = false
  for (const input of inTargetOrder(media.streams, profile)) {
    const replaced = input.kind === 'audio' && options.replaced.includes(input.audioIndex)
    if (input.kind === 'audio' && profile.soundOnly && soundTaken) {
      planned.push({
        fate: 'dropped',
        input,
        outputIndex: null,
        reason: `.${container} holds one sound alone`,
        isLoss: true,
      })
      continue
    }
    if (input.kind === 'audio') soundTaken = true
    if (replaced) {
      planned.push(replacedStream(media, container, profile, options, input, outputIndex++))
      if (!options.keepOriginal || profile.soundOnly) continue
    }
    const stream = passStream(streamPassage(input, media, container, profile), input, () => outputIndex++)
    planned.push(replaced && stream.fate === 'copied' ? asOriginal(stream) : stream)
  }
  return planned
}

/** Attached files stand behind all tracks, in their own order, wherever their container had them. */
function inTargetOrder(streams: readonly StreamInfo[], { covers }: ContainerProfile): readonly StreamInfo[] {
  if (covers !== 'attached') return streams
  const isFile = (stream: StreamInfo) => stream.kind === 'attachment' || (stream.kind === 'video' && stream.isCover)
  return [...streams.filter((stream) => !isFile(stream)), ...streams.filter(isFile)]
}

function replacedStream(
  media: MediaInfo,
  container: string,
  profile: ContainerProfile,
  options: MuxOptions,
  input: AudioStreamInfo,
  outputIndex: number,
): PlannedStream {
  const encoding = audioEncoding(input, profile, options)
  if (!encoding) {
    throw new UsageError('ERR_NO_ENCODER', `No codec that voxmux can write fits into .${container}.`, {
      input: media.path,
      remedies: ['Choose another container, for example mkv or mov.'],
    })
  }
  const reason = encoding.codec === input.codec ? null : `${input.codec} becomes ${encoding.codec}`
  return { fate: 'replaced', input, outputIndex, encoding, reason }
}

function passStream(passage: StreamPassage, input: StreamInfo, next: () => number): PlannedStream {
  switch (passage.kind) {
    case 'copy':
      return {
        fate: 'copied',
        input,
        outputIndex: next(),
        dispositions: input.dispositions,
        title: null,
        reason: null,
      }
    case 'convert':
      return { fate: 'converted', input, outputIndex: next(), codec: passage.codec, reason: passage.reason }
    case 'drop':
      return { fate: 'dropped', input, outputIndex: null, reason: passage.reason, isLoss: true }
    case 'remake':
      return { fate: 'dropped', input, outputIndex: null, reason: passage.reason, isLoss: false }
    default:
      return passage satisfies never
  }
}

/** The untouched track that is kept beside its regeneration: labelled, and never the one that plays by itself. */
function asOriginal(stream: PlannedStream & { readonly fate: 'copied' }): PlannedStream {
  const name = stream.input.title
  return {
    ...stream,
    dispositions: stream.dispositions.filter((disposition) => disposition !== 'default'),
    title: name ? `${name} (original)` : 'Original',
    reason: 'kept beside its regeneration',
  }
}

function notes(media: MediaInfo, container: string, streams: readonly PlannedStream[]): readonly string[] {
  const moved =
    media.container === container ? [] : [`The output is .${container}: .${media.container} is not written.`]
  const loudness = media.statesLoudness
    ? ['The loudness figures of its bext chunk tell of the old sound and are left out.']
    : []
  return [
    ...moved,
    ...loudness,
    ...streams.flatMap((stream) => {
      if (stream.fate !== 'replaced') return []
      const where = `Audio track ${stream.input.audioIndex}`
      if (stream.reason) return [`${where}: ${stream.reason}.`]
      return stream.encoding.lossless ? [] : [`${where} is ${stream.encoding.codec}: it is encoded again as a whole.`]
    }),
  ]
}
