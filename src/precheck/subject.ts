import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media/media-info.js'

/**
 * What the rules judge: a file as a service would receive it. Built from what was probed (the file as it is, or as
 * the service received it) or from what is planned (the voice file that is going to be sent). What is null is not
 * known, and no rule judges it.
 */
export interface Subject {
  /** Why the file cannot be read, as a clause (`it ends in the middle of its index`); null for a readable one. */
  readonly unreadable: string | null
  /** Container by its usual extension. */
  readonly container: string | null
  readonly sizeBytes: number | null
  readonly durationSec: number | null
  readonly tracks: readonly SubjectTrack[]
  /** Seconds in which the detector hears a voice. */
  readonly voicedSec: number | null
  /** Seconds for which the link of the file stays valid, where the service is to fetch it and the link says so. */
  readonly linkValidSec: number | null
}

/** One audio track of a {@link Subject}. */
export interface SubjectTrack {
  /** Place among the audio tracks of the file the person knows: what `--track` counts. */
  readonly audioIndex: number
  /** Codec by ffmpeg's name; null where no decoder is known. */
  readonly codec: string | null
  readonly sampleRate: number
  readonly channels: number
  readonly channelLayout: string | null
  /** Bits a sample of lossless audio; null for a lossy codec. */
  readonly bitDepth: number | null
  readonly language: string | null
  readonly title: string | null
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

/** A probed file, sent whole. `extra` adds what probing does not tell (voice found, validity of a link). */
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

/** A file that could not even be probed; `reason` is a clause in the person's terms. */
export function unreadableSubject(reason: string): Subject {
  return { ...UNKNOWN, unreadable: reason }
}

/** A file that the service is to fetch: only its link is known. `linkValidSec` null: the link says nothing. */
export function subjectOfLink(linkValidSec: number | null): Subject {
  return { ...UNKNOWN, linkValidSec }
}

/** A sound that was listened to: only how much voice was heard in it is known. */
export function subjectOfSound(voicedSec: number | null): Subject {
  return { ...UNKNOWN, voicedSec }
}

/** A voice file that is going to be cut from `track`: one track, lossless, as long as the part that is cut. */
export function subjectOfVoice(voice: {
  readonly track: SubjectTrack
  readonly channels: number
  readonly channelLayout: string | null
  readonly durationSec: number | null
  /** How it is stored on its way. */
  readonly encoding: { readonly format: 'flac' | 'wav'; readonly bits: number }
  readonly voicedSec?: number | null
}): Subject {
  const { track, channels, channelLayout, durationSec } = voice
  const { format, bits: bitDepth } = voice.encoding
  // A track that cannot be decoded, or of which nothing is known, stays what it is: no cut can mend it.
  const codec = track.codec === null ? null : format === 'flac' ? 'flac' : `pcm_s${bitDepth}le`
  return {
    ...UNKNOWN,
    container: format,
    durationSec,
    tracks: [{ ...track, codec, bitDepth, channels, channelLayout }],
    voicedSec: voice.voicedSec ?? null,
  }
}

/** What the rules need of an audio stream. */
export function subjectTrack(stream: AudioStreamInfo): SubjectTrack {
  return {
    audioIndex: stream.audioIndex,
    codec: stream.codec,
    sampleRate: stream.sampleRate,
    channels: stream.channels,
    channelLayout: stream.channelLayout,
    bitDepth: stream.bitsPerSample,
    language: stream.language,
    title: stream.title,
    isDefault: stream.dispositions.includes('default'),
  }
}
