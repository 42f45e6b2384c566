import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media/media-info.js'

/**
 * A file as a service would receive it: the input of the rules. Built from a probed file, or from the planned voice
 * file. Null values are unknown, and no rule checks them.
 */
export interface Subject {
  /** Why the file cannot be read, as a clause (`it ends in the middle of its index`); null for a readable one. */
  readonly unreadable: string | null
  /** Container by its usual extension. */
  readonly container: string | null
  readonly sizeBytes: number | null
  readonly durationSec: number | null
  readonly tracks: readonly SubjectTrack[]
  /** Seconds in which the detector found a voice. */
  readonly voicedSec: number | null
  /** Remaining validity of the file's link in seconds, if the service downloads the file and the link states it. */
  readonly linkValidSec: number | null
}

/** One audio track of a {@link Subject}. */
export interface SubjectTrack
  extends Pick<AudioStreamInfo, 'audioIndex' | 'codec' | 'sampleRate' | 'channels' | 'channelLayout'>,
    Pick<AudioStreamInfo, 'language' | 'title'> {
  /** The packets cannot be decoded without a key. */
  readonly isEncrypted?: boolean | undefined
  /** The file states no times for a part of the packets. */
  readonly isUntimed?: boolean | undefined
  /** Bits per sample of lossless audio; null for a lossy codec. */
  readonly bitDepth: number | null
  readonly isDefault: boolean
}

const UNKNOWN: Subject = {
  unreadable: null,
  container: null,
  sizeBytes: null,
  durationSec: null,
  tracks: [],
  voicedSec: null,
  linkValidSec: null,
}

/** A probed file that is sent whole. `extra` adds facts that probing does not give (voice, validity of a link). */
export function subjectOfMedia(
  media: MediaInfo,
  extra: Partial<Pick<Subject, 'voicedSec' | 'linkValidSec'>> = {},
): Subject {
  return {
    ...UNKNOWN,
    container: media.container,
    sizeBytes: media.sizeBytes,
    durationSec: media.durationSec,
    tracks: audioStreams(media).map(subjectTrack),
    ...extra,
  }
}

/** A file that the service downloads: only its link is known. `linkValidSec` null: the link states no expiry. */
export function subjectOfLink(linkValidSec: number | null): Subject {
  return { ...UNKNOWN, linkValidSec }
}

/** An analysed sound: only its amount of voice is known. */
export function subjectOfSound(voicedSec: number | null): Subject {
  return { ...UNKNOWN, voicedSec }
}

/** A voice file to be cut from `track`: one track, lossless, as long as the cut part. */
export function subjectOfVoice(voice: {
  readonly track: SubjectTrack
  readonly channels: number
  readonly channelLayout: string | null
  readonly durationSec: number | null
  /** Its encoding during the transfer. */
  readonly encoding: { readonly format: 'flac' | 'wav'; readonly bits: number }
  readonly voicedSec?: number | null
}): Subject {
  const { track, channels, channelLayout, durationSec } = voice
  const { format, bits: bitDepth } = voice.encoding
  // A cut cannot repair a track that cannot be decoded or has no known format.
  const codec = track.codec === null ? null : format === 'flac' ? 'flac' : `pcm_s${bitDepth}le`
  return {
    ...UNKNOWN,
    container: format,
    durationSec,
    tracks: [{ ...track, codec, bitDepth, channels, channelLayout }],
    voicedSec: voice.voicedSec ?? null,
  }
}

/** Extracts the facts that the rules need from an audio stream. */
export function subjectTrack(stream: AudioStreamInfo): SubjectTrack {
  const { audioIndex, codec, isEncrypted, isUntimed, sampleRate, channels, channelLayout, language, title } = stream
  return {
    ...{ audioIndex, codec, isEncrypted, isUntimed, sampleRate, channels, channelLayout, language, title },
    bitDepth: stream.bitsPerSample,
    isDefault: stream.dispositions.includes('default'),
  }
}
