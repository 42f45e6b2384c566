import { PrecheckError } from '../../core/errors.js'
import { audioStreams, type MediaInfo } from '../media-info.js'

/** Floating point of the program Cool Edit. ffmpeg takes integers for it that do not fill the bytes of a sample. */
const MISREAD: ReadonlySet<string> = new Set(['pcm_f24le', 'pcm_f16le'])

/** The refusal of a WAV whose samples ffmpeg decodes as noise, such as 24 bits in 32; undefined for any other file. */
export function misreadSamples(path: string, media: MediaInfo): PrecheckError | undefined {
  const track = audioStreams(media).find(({ codec }) => codec !== null && MISREAD.has(codec))
  if (!track) return undefined
  return new PrecheckError(
    'ERR_UNSUPPORTED_CODEC',
    `The samples of audio track ${track.audioIndex} of ${path} do not fill their bytes, and ffmpeg cannot tell their type.`,
    {
      input: path,
      errorCode: -7,
      errorName: 'UnsupportedCodec',
      remedies: [
        'Write them as 24 bits first: `ffmpeg -c:a pcm_s32le -i in.wav -map_metadata 0 -c:a pcm_s24le out.wav`, and listen.',
      ],
    },
  )
}
