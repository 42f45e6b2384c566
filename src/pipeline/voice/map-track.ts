import type { AudioStreamInfo, MediaInfo } from '../../media/media-info.js'
import { readMono } from '../../media/pcm/decode-pcm.js'
import { bedSeconds, mapVoice, TONE_RATE, VOICE_SAMPLE_RATE, type VoiceMap, VoicePool } from '../../voice/index.js'

/** Longer files take minutes to map, and a check has to be quick. */
export const MOST_MAPPED_SEC = 600

/**
 * Maps the voice and the noise of an audio track on the file's own clock, with the embedded engine. Decodes the track
 * once and sends nothing.
 *
 * @throws {PrecheckError} `ERR_UNREADABLE` (-2) if the track cannot be decoded
 */
export async function mapTrack(media: MediaInfo, stream: AudioStreamInfo, signal?: AbortSignal): Promise<VoiceMap> {
  return readMono(media, stream, { sampleRate: VOICE_SAMPLE_RATE, sample: 'f32', signal }, async (buffers) => {
    await using pool = new VoicePool()
    return await mapVoice({ channelCount: 1, buffers }, { pool, signal })
  })
}

/** Seconds of music under the voice of an audio track; null if the file is too long to be examined. Throws what {@link mapTrack} throws. */
export async function trackBedSec(
  media: MediaInfo,
  stream: AudioStreamInfo,
  signal?: AbortSignal,
): Promise<number | null> {
  if (media.durationSec === null || media.durationSec > MOST_MAPPED_SEC) return null
  return readMono(media, stream, { sampleRate: TONE_RATE, sample: 'f32', signal }, bedSeconds)
}
