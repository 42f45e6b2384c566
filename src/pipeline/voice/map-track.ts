import { blamingFile, streamFfmpeg } from '../../media/index.js'
import type { AudioStreamInfo, MediaInfo } from '../../media/media-info.js'
import { fileClockFilters } from '../../media/pcm/clock-filters.js'
import { decodedInput, fileClock } from '../../media/pcm/file-clock.js'
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
  return withMono(media, stream, VOICE_SAMPLE_RATE, signal, async (chunks) => {
    await using pool = new VoicePool()
    return await mapVoice({ channelCount: 1, chunks }, { pool, signal })
  })
}

/** Seconds of music under the voice of an audio track; null if the file is too long to be examined. Throws what {@link mapTrack} throws. */
export async function trackBedSec(
  media: MediaInfo,
  stream: AudioStreamInfo,
  signal?: AbortSignal,
): Promise<number | null> {
  if (media.durationSec === null || media.durationSec > MOST_MAPPED_SEC) return null
  return withMono(media, stream, TONE_RATE, signal, bedSeconds)
}

/** Decodes a track to one channel of floats, on the file's own clock. */
async function withMono<T>(
  media: MediaInfo,
  stream: AudioStreamInfo,
  sampleRate: number,
  signal: AbortSignal | undefined,
  use: (chunks: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const { path } = media
  const onClock = fileClockFilters(fileClock(media, stream), { kind: 'all' })
  const filters = [...onClock, `aresample=${sampleRate}`, 'aformat=sample_fmts=flt:channel_layouts=mono']
  return blamingFile(path, signal, async () => {
    const { stdout } = streamFfmpeg(
      {
        inputs: [decodedInput(media)],
        filterComplex: `[0:a:${stream.audioIndex}]${filters.join(',')}[pcm]`,
        outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', '-f', 'f32le', '-c:a', 'pcm_f32le'] }],
      },
      { signal, input: path },
    )
    return await use(stdout)
  })
}
