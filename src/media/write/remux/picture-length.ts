import { type MediaInfo, pictureOf, type StreamInfo } from '../../media-info.js'
import type { PcmStream } from '../../pcm/pcm.js'
import { slicePcm } from '../../pcm/pcm-streams.js'
import type { ContainerProfile } from '../container-profile.js'
import type { MuxLoss } from './mux-losses.js'

/** Silence behind a voice if no header states where the pictures end. The muxer leaves out what is too much. */
const SPARE_SEC = 1

/** True if every picture of a container has a piece of the sound of its own, so that both begin and end together. */
export function isBoundToPictures({ muxer }: ContainerProfile, media: MediaInfo): boolean {
  return muxer === 'mxf' && pictureOf(media) !== undefined
}

/** Seconds from the start of the file to the end of its pictures; null if no header states them. */
function pictureEndSec(media: MediaInfo): number | null {
  return endSec(media, pictureOf(media))
}

function endSec({ startSec: zeroSec }: MediaInfo, stream: StreamInfo | undefined): number | null {
  if (stream?.startSec == null || stream.durationSec === null) return null
  return stream.startSec - zeroSec + stream.durationSec
}

/** Cuts a voice at the end of the pictures, or fills it up to there with silence. */
export function boundVoice(voice: PcmStream, media: MediaInfo): PcmStream {
  const lengthSec = pictureEndSec(media) ?? (media.durationSec === null ? null : media.durationSec + SPARE_SEC)
  return lengthSec === null ? voice : slicePcm(voice, 0, Math.round(lengthSec * voice.format.sampleRate))
}

/** True if a track can be copied beside the pictures: to the sample, it begins and ends with them. */
export function fitsPictures(track: StreamInfo & { readonly kind: 'audio' }, media: MediaInfo): boolean {
  const [sound, pictures] = [endSec(media, track), pictureEndSec(media)]
  if (sound === null || pictures === null || track.startSec !== media.startSec) return false
  return Math.abs(sound - pictures) * track.sampleRate < 0.5
}

/** Sound that is left out because the pictures end before it. */
export function cutSoundLosses(tracks: readonly StreamInfo[], media: MediaInfo, container: string): readonly MuxLoss[] {
  const pictures = pictureEndSec(media)
  return tracks.flatMap((track) => {
    const bySec = (endSec(media, track) ?? 0) - (pictures ?? Number.POSITIVE_INFINITY)
    if (bySec < 0.001) return []
    const what = `the last ${bySec.toFixed(3)} s of audio stream ${track.index}`
    return [{ what, stream: track.index, reason: `.${container} ends with the pictures` }]
  })
}
