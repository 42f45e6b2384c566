import { runFfmpeg } from '../ffmpeg/ffmpeg.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { decodedInput } from '../pcm/file-clock.js'
import { type MeasuredSound, SoundLines } from './sound-lines.js'

interface MeasureSoundOptions {
  /** True for each second of the file's clock with a voice; null if that is not known. */
  readonly voiced: readonly boolean[] | null
  readonly signal?: AbortSignal | undefined
}

/** Sound below this level for this long is silence. */
const SILENCE = 'noise=-60dB:duration=1'

/**
 * Measures an audio track with ffmpeg's own meters in one decode: loudness and true peak (`ebur128`), silence
 * (`silencedetect`) and phase (`aphasemeter`). No figure comes from voxmux's meter.
 *
 * @throws ffmpeg's faults; InterruptedError
 */
export async function measureSound(
  media: MediaInfo,
  { audioIndex, channels }: AudioStreamInfo,
  { voiced, signal }: MeasureSoundOptions,
): Promise<MeasuredSound> {
  const meters = [
    // Cuts the sound into frames of 100 ms, to which all meters add their figures.
    'ebur128=peak=true:metadata=1',
    `silencedetect=${SILENCE}`,
    ...(channels === 2 ? ['aphasemeter=video=0'] : []),
    'ametadata=mode=print',
  ]
  const lines = new SoundLines(voiced, media.startSec)
  await runFfmpeg(
    {
      // The meters print their figures as information.
      globalOptions: ['-loglevel', 'level+info'],
      inputs: [decodedInput(media)],
      filterComplex: `[0:a:${audioIndex}]${meters.join(',')}[measured]`,
      outputs: [{ url: '-', options: ['-map', '[measured]', '-c:a', 'pcm_s16le', '-f', 'null'] }],
    },
    { signal, input: media.path, takeStderrLine: (line) => lines.take(line) },
  )
  return lines.result()
}
