import { PrecheckError } from '../../../core/errors.js'
import { audioStreams, type MediaInfo } from '../../media-info.js'

/** Floating point of the program Cool Edit. ffmpeg takes integers for it that do not fill the bytes of a sample. */
const MISREAD: ReadonlySet<string> = new Set(['pcm_f24le', 'pcm_f16le'])

/** Remedies, by the container. */
const REMEDIES = {
  wav: 'Write them as 24 bits first: `ffmpeg -c:a pcm_s32le -i in.wav -map_metadata 0 -c:a pcm_s24le out.wav`, and listen.',
  caf: 'Write them as 24 bits first, on a Mac: `afconvert -f caff -d LEI24 in.caf out.caf`.',
} as const

/**
 * The refusal of a WAV or CAF whose samples ffmpeg decodes as noise, such as 24 bits in 32; undefined for any other file.
 *
 * @param head the first bytes of the file
 */
export function misreadSamples(path: string, media: MediaInfo, head: Buffer): PrecheckError | undefined {
  const track = audioStreams(media).find(({ codec }) => codec !== null && MISREAD.has(codec))
  if (track) return refusal(path, track.audioIndex, REMEDIES.wav)
  return media.container === 'caf' && hasWideSamples(media, head) ? refusal(path, 0, REMEDIES.caf) : undefined
}

/** Fields of the description that begins every CAF. */
const CAF = { packetBytes: 36, channels: 44, end: 52 }

/** True if a CAF has more bytes in a sample than ffmpeg reads, which goes by its bits alone. */
function hasWideSamples(media: MediaInfo, head: Buffer): boolean {
  const bits = /^pcm_[sf](\d+)/.exec(audioStreams(media)[0]?.codec ?? '')?.[1]
  if (bits === undefined || head.length < CAF.end) return false
  return head.readUInt32BE(CAF.packetBytes) !== (head.readUInt32BE(CAF.channels) * Number(bits)) / 8
}

function refusal(path: string, audioIndex: number, remedy: string): PrecheckError {
  return new PrecheckError(
    'ERR_UNSUPPORTED_CODEC',
    `The samples of audio track ${audioIndex} of ${path} do not fill their bytes, and ffmpeg cannot tell their type.`,
    { input: path, errorCode: -7, errorName: 'UnsupportedCodec', remedies: [remedy] },
  )
}
