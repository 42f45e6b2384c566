import type { FileHandle } from 'node:fs/promises'
import type { PrecheckError } from '../../../core/errors.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'
import { refusedFile } from '../../refused-file.js'
import { highBytesOnly } from './high-bytes.js'
import { cafSamples, type StatedSamples, waveSamples } from './stated-samples.js'

/** Floating point of the program Cool Edit. ffmpeg takes integers for it that do not fill the bytes of a sample. */
const [COOL_EDIT_24, COOL_EDIT_16] = ['pcm_f24le', 'pcm_f16le']

/** Significant bits of a sample, and its bytes, in the one form with unused bytes that voxmux writes. */
const HIGH = { bits: 24, bytes: 4 }

/**
 * Names the true coding of samples that ffmpeg decodes as noise. These are 24 bits in the upper bytes of 32, and a RIFX,
 * whose high bytes come first. Any other file stays as it is.
 *
 * @param head the first bytes of the file
 * @throws PrecheckError ERR_UNSUPPORTED_CODEC (-7) for other samples that do not fill their bytes
 */
export async function withTrueSamples(
  path: string,
  media: MediaInfo,
  file: FileHandle,
  head: Buffer,
): Promise<MediaInfo> {
  const track = audioStreams(media).find(({ codec }) => codec === COOL_EDIT_24 || codec === COOL_EDIT_16)
  const [first] = audioStreams(media)
  const stated = await statedSamples(media, file, head)
  if (first && stated && (track === first || isWider(first, stated))) {
    const isHigh = bitsOf(first) === HIGH.bits && stated.frameBytes === HIGH.bytes * stated.channels
    if (isHigh && (await highBytesOnly(file, stated))) return withHighBytes(media, first, stated)
    throw refusal(path, first.audioIndex, media.container === 'caf' ? null : stated.frameBytes / stated.channels)
  }
  if (track) throw refusal(path, track.audioIndex, HIGH.bytes)
  return first && isRifx(head) ? withHighByteFirst(media, first) : media
}

async function statedSamples(
  { container, sizeBytes }: MediaInfo,
  file: FileHandle,
  head: Buffer,
): Promise<StatedSamples | undefined> {
  if (container === 'caf') return cafSamples(file, head, sizeBytes)
  return container === 'wav' ? waveSamples(file, isRifx(head) ? 'BE' : 'LE') : undefined
}

function isRifx(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFX'
}

/** Bits of a value as ffmpeg reads it; null for another codec than PCM. */
function bitsOf({ codec }: AudioStreamInfo): number | null {
  const bits = /^pcm_[sf](\d+)/.exec(codec ?? '')?.[1]
  return bits === undefined ? null : Number(bits)
}

/**
 * True if a sample has more bytes than ffmpeg reads, which goes by its bits alone. A header with too small a frame is wrong
 * about the frame: ffmpeg reads such files right.
 */
function isWider(track: AudioStreamInfo, { frameBytes, channels }: StatedSamples): boolean {
  const bits = bitsOf(track)
  return bits !== null && frameBytes > (channels * bits) / 8 && frameBytes % channels === 0
}

/** Integers of 32 bits whose lowest byte is zero. ffmpeg counted their seconds by 24. */
function withHighBytes(media: MediaInfo, track: AudioStreamInfo, stated: StatedSamples): MediaInfo {
  const durationSec = (stated.data?.length ?? 0) / stated.frameBytes / track.sampleRate
  const bitRate = 8 * stated.frameBytes * track.sampleRate
  const own = { sampleFormat: 's32', bitsPerSample: HIGH.bits, durationSec, bitRate }
  return decodedAs({ ...media, durationSec }, { ...track, ...own }, `pcm_s32${stated.isBigEndian ? 'be' : 'le'}`)
}

/** ffmpeg reads the numbers of a RIFX, and takes its samples for those of a RIFF. */
function withHighByteFirst(media: MediaInfo, track: AudioStreamInfo): MediaInfo {
  const { codec } = track
  return codec && /^pcm_\w+le$/.test(codec) ? decodedAs(media, track, codec.replace(/le$/, 'be')) : media
}

function decodedAs(media: MediaInfo, track: AudioStreamInfo, codec: string): MediaInfo {
  const streams = media.streams.map((stream) => (stream.index === track.index ? { ...track, codec } : stream))
  return { ...media, streams, decoderOptions: ['-c:a', codec] }
}

/** @param bytes of a value in a WAV; null for a CAF */
function refusal(path: string, audioIndex: number, bytes: number | null): PrecheckError {
  const read = `ffmpeg -c:a pcm_s${8 * (bytes ?? 0)}le -i in.wav`
  const remedy =
    bytes === null
      ? 'Write them as 24 bits first, on a Mac: `afconvert -f caff -d LEI24 in.caf out.caf`.'
      : `Write them as 24 bits first: \`${read} -map_metadata 0 -c:a pcm_s24le out.wav\`, and listen.`
  const message = `The samples of audio track ${audioIndex} of ${path} do not fill their bytes, and ffmpeg cannot tell their type.`
  return refusedFile(-7, 'ERR_UNSUPPORTED_CODEC', message, { input: path, remedies: [remedy] })
}
