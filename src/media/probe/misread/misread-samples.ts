import type { FileHandle } from 'node:fs/promises'
import { PrecheckError } from '../../../core/errors.js'
import { readAt } from '../../../core/read-at.js'
import { audioStreams, type MediaInfo } from '../../media-info.js'
import { waveChunks } from '../wave-chunks.js'

/** Floating point of the program Cool Edit. ffmpeg takes integers for it that do not fill the bytes of a sample. */
const MISREAD: ReadonlySet<string> = new Set(['pcm_f24le', 'pcm_f16le'])

const UNFILLED = 'do not fill their bytes, and ffmpeg cannot tell their type'
const RIFX_FAULT = 'have their high byte first (RIFX), and ffmpeg decodes them as noise'
const CAF_REMEDY = 'Write them as 24 bits first, on a Mac: `afconvert -f caff -d LEI24 in.caf out.caf`.'

/**
 * The refusal of a WAV or CAF whose samples ffmpeg decodes as noise, such as 24 bits in 32, or of the kind RIFX. Undefined
 * for any other file.
 *
 * @param head the first bytes of the file
 */
export async function misreadSamples(
  path: string,
  media: MediaInfo,
  file: FileHandle,
  head: Buffer,
): Promise<PrecheckError | undefined> {
  const track = audioStreams(media).find(({ codec }) => codec !== null && MISREAD.has(codec))
  if (track) return refusal(path, track.audioIndex, waveRemedy(4))
  if (media.container === 'caf' && isWider(media, cafFrame(head))) return refusal(path, 0, CAF_REMEDY)
  if (media.container !== 'wav') return undefined
  const [, kind] = /^pcm_([sf]\d+)le$/.exec(audioStreams(media)[0]?.codec ?? '') ?? []
  if (kind && isRifx(head)) return refusal(path, 0, rifxRemedy(kind), RIFX_FAULT)
  const frame = await waveFrame(file)
  return frame && isWider(media, frame) ? refusal(path, 0, waveRemedy(frame.bytes / frame.channels)) : undefined
}

interface Frame {
  readonly bytes: number
  readonly channels: number
}

/** Fields of the description that begins every CAF. */
const CAF = { packetBytes: 36, channels: 44, end: 52 }
/** Fields of the chunk `fmt ` of a WAV, behind its header. */
const WAVE = { channels: 2, blockAlign: 12, end: 14 }

function cafFrame(head: Buffer): Frame | undefined {
  if (head.length < CAF.end) return undefined
  return { bytes: head.readUInt32BE(CAF.packetBytes), channels: head.readUInt32BE(CAF.channels) }
}

async function waveFrame(file: FileHandle): Promise<Frame | undefined> {
  const format = (await waveChunks(file)).find(({ id }) => id === 'fmt ')
  const fields = format ? await readAt(file, format.at + 8, WAVE.end) : Buffer.alloc(0)
  if (fields.length < WAVE.end) return undefined
  return { bytes: fields.readUInt16LE(WAVE.blockAlign), channels: fields.readUInt16LE(WAVE.channels) }
}

/** True for a WAV that writes the high byte of a value first. ffmpeg takes the other one for it. */
function isRifx(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFX'
}

/**
 * True if a sample has more bytes than ffmpeg reads, which goes by its bits alone. A header with too small a frame is wrong
 * about the frame: ffmpeg reads such files right.
 */
function isWider(media: MediaInfo, frame: Frame | undefined): boolean {
  const bits = /^pcm_[sf](\d+)/.exec(audioStreams(media)[0]?.codec ?? '')?.[1]
  if (bits === undefined || frame === undefined) return false
  return frame.bytes > (frame.channels * Number(bits)) / 8 && frame.bytes % frame.channels === 0
}

function waveRemedy(bytes: number): string {
  const read = `ffmpeg -c:a pcm_s${8 * bytes}le -i in.wav`
  return `Write them as 24 bits first: \`${read} -map_metadata 0 -c:a pcm_s24le out.wav\`, and listen.`
}

function rifxRemedy(kind: string): string {
  return `Turn their bytes round first: \`ffmpeg -c:a pcm_${kind}be -i in.wav -map_metadata 0 -c:a pcm_${kind}le out.wav\`.`
}

function refusal(path: string, audioIndex: number, remedy: string, fault = UNFILLED): PrecheckError {
  return new PrecheckError('ERR_UNSUPPORTED_CODEC', `The samples of audio track ${audioIndex} of ${path} ${fault}.`, {
    input: path,
    errorCode: -7,
    errorName: 'UnsupportedCodec',
    remedies: [remedy],
  })
}
