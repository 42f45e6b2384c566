import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'
import { packetEnds } from './short-streams.js'

/** A stated length this many times too long cannot be the padding of a last packet. */
const TOO_LONG = 1.5

/**
 * Measures the sound of an AIFF whose header counts too much. That of packed sound, such as ADPCM, counts packets, but some
 * programs count samples. SoX cannot know the number of samples if it writes into a pipe. ffmpeg then states a length that
 * is many times too long.
 */
export async function withPackedLength(media: MediaInfo, signal: AbortSignal | undefined): Promise<MediaInfo> {
  const [track] = audioStreams(media)
  if (media.container !== 'aiff' || !track?.codec || fits(media, track)) return media
  const [durationSec = 0] = (await packetEnds(media, signal, ['-select_streams', 'a:0'])).values()
  if (durationSec === 0 || media.durationSec === null || media.durationSec < TOO_LONG * durationSec) return media
  const streams = media.streams.map((stream) => (stream === track ? { ...track, durationSec } : stream))
  return { ...media, streams, durationSec }
}

/** True if a file is large enough for the length that is stated of its PCM. */
function fits({ sizeBytes, durationSec }: MediaInfo, { codec, sampleRate, channels, bitsPerSample }: AudioStreamInfo) {
  if (!codec?.startsWith('pcm_')) return false
  return (durationSec ?? 0) * sampleRate * channels * (bitsPerSample ?? 8) <= 8 * TOO_LONG * sizeBytes
}
