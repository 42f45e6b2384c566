import { blockSizeOptions } from './block-size.js'
import { type ContainerProfile, carriesAudio } from './container-profile.js'
import type { AudioStreamInfo } from './media-info.js'
import { isLossless } from './media-info-of.js'

/** How a replaced track is coded in the output. */
export interface AudioEncoding {
  /** Codec as ffprobe names it. */
  readonly codec: string
  /** ffmpeg's encoder. */
  readonly encoder: string
  readonly lossless: boolean
  /** Bits a second; null where the codec has none to choose. */
  readonly bitRate: number | null
  /** Given after `-c:a`, for this stream alone: `{s}` stands for its specifier. */
  readonly options: readonly string[]
}

export interface AudioWishes {
  /** Codec to use instead of the original's (ffprobe's name). */
  readonly audioCodec?: string | undefined
  readonly audioBitRate?: number | undefined
  /** Codec where the original's cannot be written: a name of ffprobe's, or `pcm` for the kind that loses nothing. */
  readonly fallbackCodec?: string | undefined
  /** Bit rate of a lossy codec where the original says none; bits a second. */
  readonly fallbackBitRate?: number | undefined
}

interface LossyCodec {
  readonly encoder: string
  /** Where the file does not say how many bits it spends. */
  readonly defaultBitRatePerChannel: number
  readonly maxBitRatePerChannel: number
  /** Bit rates the format knows, where it knows only some. */
  readonly steps?: readonly number[]
}

const K = 1000
const AC3_STEPS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
const MP3_STEPS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MP2_STEPS = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]

const LOSSY: Readonly<Record<string, LossyCodec>> = {
  aac: { encoder: 'aac', defaultBitRatePerChannel: 96 * K, maxBitRatePerChannel: 256 * K },
  mp3: { encoder: 'libmp3lame', defaultBitRatePerChannel: 128 * K, maxBitRatePerChannel: 320 * K, steps: MP3_STEPS },
  mp2: { encoder: 'mp2', defaultBitRatePerChannel: 128 * K, maxBitRatePerChannel: 192 * K, steps: MP2_STEPS },
  ac3: { encoder: 'ac3', defaultBitRatePerChannel: 96 * K, maxBitRatePerChannel: 256 * K, steps: AC3_STEPS },
  eac3: { encoder: 'eac3', defaultBitRatePerChannel: 96 * K, maxBitRatePerChannel: 256 * K },
  opus: { encoder: 'libopus', defaultBitRatePerChannel: 80 * K, maxBitRatePerChannel: 256 * K },
  vorbis: { encoder: 'libvorbis', defaultBitRatePerChannel: 96 * K, maxBitRatePerChannel: 192 * K },
  wmav2: { encoder: 'wmav2', defaultBitRatePerChannel: 96 * K, maxBitRatePerChannel: 160 * K },
  wmav1: { encoder: 'wmav1', defaultBitRatePerChannel: 96 * K, maxBitRatePerChannel: 160 * K },
}
const LOSSLESS_ENCODERS = new Set(['flac', 'alac', 'wavpack', 'tta', 's302m'])
/** PCM kinds that ffmpeg reads but does not write everywhere. */
const PCM_WITHOUT_ENCODER = new Set([
  'pcm_bluray',
  'pcm_dvd',
  'pcm_lxf',
  'pcm_f16le',
  'pcm_f24le',
  'pcm_sga',
  'pcm_zork',
])

/** ffmpeg can write this codec, on every build worth the name. */
function canEncode(codec: string): boolean {
  if (codec.startsWith('pcm_')) return !PCM_WITHOUT_ENCODER.has(codec)
  return codec in LOSSY || LOSSLESS_ENCODERS.has(codec)
}

/**
 * Codec and bit rate of a replaced track: what was asked for, else the original's own, else (where that was lossless)
 * one that loses nothing either, else the fallback, else the container's usual. What the container cannot carry is
 * not chosen.
 */
export function audioEncoding(
  stream: AudioStreamInfo,
  profile: ContainerProfile,
  wishes: AudioWishes,
): AudioEncoding | undefined {
  const usable = (codec: string | null | undefined): codec is string =>
    typeof codec === 'string' && canEncode(codec) && carriesAudio(profile, codec)
  const pcm = `pcm_${pcmKind(stream)}le`
  const lossless = isLossless(stream.codec) ? [losslessKin(stream.codec), pcm] : []
  const fallback = wishes.fallbackCodec === 'pcm' ? pcm : wishes.fallbackCodec
  const codec = [
    ...[wishes.audioCodec, stream.codec, ...lossless],
    ...[fallback, lossyKin(stream.codec), ...profile.audioCodecs.map((known) => (known === 'pcm_*' ? pcm : known))],
  ].find(usable)
  if (codec === undefined) return undefined
  if (codec.startsWith('pcm_')) return { codec, encoder: codec, lossless: true, bitRate: null, options: [] }
  if (LOSSLESS_ENCODERS.has(codec)) return losslessEncoding(codec, stream)
  return lossyEncoding(codec, stream, wishes)
}

/** Holds what a codec that can only be read gave back, to the bit. */
function losslessKin(codec: string | null): string | undefined {
  return codec === 'truehd' || codec === 'mlp' || codec === 'ape' || codec === 'shorten' ? 'flac' : undefined
}

/** The nearest kin of a codec that can only be read. */
function lossyKin(codec: string | null): string | undefined {
  switch (codec) {
    case 'wmapro':
    case 'wmavoice':
    case 'wmalossless':
      return 'wmav2'
    case 'aac_latm':
      return 'aac'
    case 'dts':
      return 'flac'
    default:
      return undefined
  }
}

function pcmKind({ sampleFormat, bitsPerSample }: AudioStreamInfo): string {
  if (sampleFormat === 'dbl') return 'f64'
  if (sampleFormat === 'flt') return 'f32'
  if ((bitsPerSample ?? 16) <= 16) return 's16'
  return (bitsPerSample ?? 24) <= 24 ? 's24' : 's32'
}

function losslessEncoding(codec: string, stream: AudioStreamInfo): AudioEncoding {
  const deep = stream.bitsPerSample !== null ? stream.bitsPerSample > 16 : stream.sampleFormat !== 's16'
  const format = codec === 'alac' || codec === 'wavpack' ? (deep ? 's32p' : 's16p') : deep ? 's32' : 's16'
  // Without the number of bits FLAC of an s32 would depend on the version: 24, or 32 where it may be experimental.
  const depth = deep ? ['-bits_per_raw_sample:{s}', '24'] : []
  // Lossless, but marked experimental in ffmpeg: SMPTE 302M in TS.
  const strict = codec === 's302m' ? ['-strict', '-2'] : []
  return {
    codec,
    encoder: codec,
    lossless: true,
    bitRate: null,
    options: ['-sample_fmt:{s}', format, ...blockSizeOptions(codec, '{s}'), ...depth, ...strict],
  }
}

function lossyEncoding(codec: string, stream: AudioStreamInfo, wishes: AudioWishes): AudioEncoding {
  const known = LOSSY[codec] as LossyCodec
  const channels = Math.max(1, stream.channels)
  const own = stream.codec === codec && !isLossless(stream.codec) ? stream.bitRate : null
  // HE-AAC spends half of what LC needs for the same sound, and ffmpeg's own encoder is LC.
  const worth = own !== null && /HE-AAC/.test(stream.profile ?? '') ? own * 2 : own
  const usual = wishes.fallbackBitRate ?? known.defaultBitRatePerChannel * channels
  const wanted = wishes.audioBitRate ?? worth ?? usual
  const capped = Math.min(wanted, known.maxBitRatePerChannel * channels)
  const steps = known.steps
  const bitRate = steps ? (steps.find((step) => step * K >= capped - 500) ?? (steps.at(-1) as number)) * K : capped
  return { codec, encoder: known.encoder, lossless: false, bitRate, options: ['-b:{s}', String(Math.round(bitRate))] }
}
