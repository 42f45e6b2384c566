import { blamingFile, FILE_CLOCK_INPUT_OPTIONS, fileUrl, safeInputOptions, streamFfmpeg } from '../../media/index.js'
import type { AudioStreamInfo, MediaInfo } from '../../media/media-info.js'
import { fileClockFilters } from '../../media/pcm/file-clock.js'
import { mapVoice, VOICE_SAMPLE_RATE, type VoiceMap, VoicePool } from '../../voice/index.js'

/**
 * Maps the voice and the noise of an audio track on the file's own clock, with the built-in engine. Decodes the track
 * once and sends nothing.
 *
 * @throws {PrecheckError} `ERR_UNREADABLE` (-2) if the track cannot be decoded
 */
export async function mapTrack(media: MediaInfo, stream: AudioStreamInfo, signal?: AbortSignal): Promise<VoiceMap> {
  const { path, startSec } = media
  const onClock = fileClockFilters({ startSec, sampleRate: stream.sampleRate }, { kind: 'all' })
  const filters = [...onClock, `aresample=${VOICE_SAMPLE_RATE}`, 'aformat=sample_fmts=flt:channel_layouts=mono']
  return blamingFile(path, signal, async () => {
    const { stdout } = streamFfmpeg(
      {
        inputs: [{ url: fileUrl(path), options: [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS] }],
        filterComplex: `[0:a:${stream.audioIndex}]${filters.join(',')}[pcm]`,
        outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', '-f', 'f32le', '-c:a', 'pcm_f32le'] }],
      },
      { signal, input: path },
    )
    await using pool = new VoicePool()
    return await mapVoice({ channelCount: 1, chunks: stdout }, { pool, signal })
  })
}
