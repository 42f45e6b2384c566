/** ffprobe's report on a file, in the nouns that the rest of voxmux uses. All times in seconds on the file's own clock. */
export interface MediaInfo {
  /** Absolute path of the file that was probed. */
  readonly path: string
  readonly sizeBytes: number
  /** ffprobe's `format_name`, e.g. `mov,mp4,m4a,3gp,3g2,mj2`. */
  readonly formatName: string
  /** The container by its usual extension, told apart by brand and content: `mp4`, `mov`, `mkv`, `webm`, `wav` … */
  readonly container: string
  /** Options that ffmpeg needs before `-i` to present the file as intended; usually none. */
  readonly readOptions?: readonly string[]
  /** Options before `-i` without which ffmpeg would decode the sound as noise; usually none. ffprobe does not take them. */
  readonly decoderOptions?: readonly string[]
  /** Timestamp at which the file's presentation begins: what a player shows as 0:00. */
  readonly startSec: number
  /** Presentation length from {@link startSec}; null if the container does not say. */
  readonly durationSec: number | null
  readonly bitRate: number | null
  readonly tags: Readonly<Record<string, string>>
  /** Set if a Broadcast WAV says how loud its sound is. */
  readonly statesLoudness?: boolean
  /** Set if only its packets tell whether the clock of an mp4 or mov jumps or overlaps itself. */
  readonly mayJump?: boolean
  /** Set if ffmpeg may state the time of a packet too early, and by how much at most. */
  readonly clockErrorSec?: number
  /** Set if all sound of an mp4 or mov lies in fragments. */
  readonly isFragmented?: boolean
  /** Set if ffmpeg cannot copy a picture of an mp4 or mov: what its edit list does. */
  readonly editedPictures?: string
  /** In file order: `streams[n].index === n`. */
  readonly streams: readonly StreamInfo[]
  readonly chapters: readonly ChapterInfo[]
  /** Programs of a transport stream, in the order of its tables. */
  readonly programs?: readonly ProgramInfo[]
}

/** A program (service) of a transport stream. */
export interface ProgramInfo {
  readonly id: number | null
  /** Packet id of its table. */
  readonly pmtPid: number | null
  readonly name: string | null
  readonly provider: string | null
}

export type StreamInfo = AudioStreamInfo | VideoStreamInfo | OtherStreamInfo

interface StreamBase {
  readonly index: number
  /** Codec name as ffprobe gives it; null if no decoder is known. */
  readonly codec: string | null
  /** The container's own tag of the codec (`avc1`, `tmcd`, …); null if it has none. */
  readonly codecTag: string | null
  /** The container's own number of the stream, such as a PID; null if it has none. */
  readonly id?: number | null
  readonly profile: string | null
  /** The packets cannot be decoded without a key. */
  readonly isEncrypted?: true
  /** On the file's clock, so that `startSec - media.startSec` is the offset a player shows. */
  readonly startSec: number | null
  readonly durationSec: number | null
  /** Ticks as `1/90000`. */
  readonly timeBase: string
  readonly bitRate: number | null
  /** ISO 639 code as written in the file; null if absent or `und`. */
  readonly language: string | null
  readonly title: string | null
  readonly tags: Readonly<Record<string, string>>
  /** Names of the dispositions that are set, e.g. `default`, `forced`, `attached_pic`. */
  readonly dispositions: readonly string[]
  /** Content of each side data entry, as JSON with its keys in order; by its `side_data_type`. */
  readonly sideDataValues: Readonly<Record<string, string>>
  /** Hash of the codec's own header, or of an attachment's content. Null if there is none. */
  readonly extradataHash: string | null
}

export interface AudioStreamInfo extends StreamBase {
  readonly kind: 'audio'
  /** The index of the file states no times for a part of the packets. */
  readonly isUntimed?: true
  /** Place among the audio streams: `0:a:N`, what `--track N` counts. */
  readonly audioIndex: number
  readonly sampleRate: number
  readonly channels: number
  /** ffmpeg's layout name, e.g. `stereo`, `5.1(side)`; null if unknown. */
  readonly channelLayout: string | null
  /** ffmpeg's sample format without the planar mark: `s16`, `s32`, `flt`, `dbl`, `u8`; null if unknown. */
  readonly sampleFormat: string | null
  /** Significant bits a sample of a lossless codec (16, 24, 32); null for lossy ones. */
  readonly bitsPerSample: number | null
  /** Place of the first frames, if ffmpeg states later times for them or none. */
  readonly firstFrames?: FirstFrames
  /** Set if frames play up to this much earlier than ffmpeg states: those of packets that hold several, for one. */
  readonly frameJitterSec?: number
  /** A packet holds several frames of AMR, and ffmpeg decodes only the first of them. */
  readonly packsFrames?: true
  /** Set by the plan: the timestamps slowly move away from the samples, and the sound is stretched along. */
  readonly followsDrift?: boolean
  /** Set by the plan: number of packets that ffmpeg reads; null if they were not read. */
  readonly packetCount?: number | null
  /** Set by the plan: start of the first packet on the file's clock, in seconds; null if the packets were not read. */
  readonly packetsStartSec?: number | null
  /** Set by the plan: end of the last packet on the file's clock, in seconds; null if the packets were not read. */
  readonly packetsEndSec?: number | null
}

/** The frames of the first packet, or of the first block. */
export interface FirstFrames {
  /** Timestamp at which they begin to play. */
  readonly startSec: number
  /** Samples that follow each other without a gap, at the rate of the track. */
  readonly sampleCount: number
}

export interface VideoStreamInfo extends StreamBase {
  readonly kind: 'video'
  readonly width: number
  readonly height: number
  /** `25/1`; null if unknown. */
  readonly frameRate: string | null
  /** Clockwise, from the display matrix. */
  readonly rotationDeg: number
  /** Shape of a pixel, `16:15`; null if it is square or not said. */
  readonly sampleAspect: string | null
  readonly colour: ColourInfo
  /** A cover picture, not a film. */
  readonly isCover: boolean
}

/** How the numbers of a picture are meant, in ffmpeg's names (`bt2020nc`, `smpte2084`, …); null if not said. */
export interface ColourInfo {
  readonly range: string | null
  readonly space: string | null
  readonly transfer: string | null
  readonly primaries: string | null
}

export interface OtherStreamInfo extends StreamBase {
  readonly kind: 'subtitle' | 'data' | 'attachment' | 'unknown'
}

export interface ChapterInfo {
  readonly startSec: number
  readonly endSec: number
  readonly title: string | null
}

/** The audio streams of a file, in order. */
export function audioStreams(media: MediaInfo): readonly AudioStreamInfo[] {
  return media.streams.filter((stream) => stream.kind === 'audio')
}

/** Seconds by which a stream begins later than its file; 0 if its start is unknown. */
export function lateSecOf({ startSec }: Pick<MediaInfo, 'startSec'>, stream: StreamInfo | undefined): number {
  return (stream?.startSec ?? startSec) - startSec
}

/** True for sound of all directions (Ambisonics), whose channels belong to no speakers. */
export function isSoundField({ channelLayout }: Pick<AudioStreamInfo, 'channelLayout'>): boolean {
  return channelLayout?.startsWith('ambisonic') ?? false
}

/** True for a cover picture. */
export function isCover(stream: StreamInfo): boolean {
  return stream.kind === 'video' && stream.isCover
}

/** True for a moving picture. A cover does not count. */
export function isFilm(stream: StreamInfo): stream is VideoStreamInfo {
  return stream.kind === 'video' && !stream.isCover
}

/** The first moving picture; undefined for sound alone. */
export function pictureOf(media: MediaInfo): VideoStreamInfo | undefined {
  return media.streams.find(isFilm)
}

/** True if ffmpeg found nothing to decode in a track that was announced. */
export function isUndescribed({
  codec,
  sampleRate,
  channels,
}: Pick<AudioStreamInfo, 'codec' | 'sampleRate' | 'channels'>): boolean {
  return codec !== null && !(sampleRate > 0 && channels > 0)
}

/**
 * False if the size of a picture or the rate of a sound is unknown: ffmpeg writes no such stream. Examples are a damaged
 * cover, a recording that was cut behind its last key frame, and a track that is announced and never sent.
 */
export function isMuxable(stream: StreamInfo): boolean {
  if (stream.kind === 'video') return stream.width > 0 && stream.height > 0
  return stream.kind !== 'audio' || stream.sampleRate > 0
}
