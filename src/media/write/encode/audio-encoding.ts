import { type AudioStreamInfo, isSoundField } from '../../media-info.js'
import { blockSizeOptions } from '../../pcm/block-size.js'
import { isLossless } from '../../probe/media-info-of.js'
import { type ContainerProfile, carriesAudio } from '../container-profile.js'

/** Encoding of a replaced track in the output. */
export interface AudioEncoding {
  /** Codec as ffprobe names it. */
  readonly codec: string
  /** ffmpeg's encoder. */
  readonly encoder: string
  readonly lossless: boolean
  /** Bits per second; null for a codec without a bit rate setting. */
  readonly bitRate: number | null
  /** Options after `-c:a` for this stream only; `{s}` is its specifier. */
  readonly options: readonly string[]
}

/** Names both codecs of a track whose codec changes; null if it stays. */
export function codecChange(input: Pick<AudioStreamInfo, 'codec'>, made: Pick<AudioEncoding, 'codec'>): string | null {
  return input.codec === made.codec ? null : `${input.codec ?? 'an unknown codec'} becomes ${made.codec}`
}

/** The options of a stream that encode it. @param specifier of the stream in its output */
export function encodingOptions({ encoder, options }: AudioEncoding, specifier: string): readonly string[] {
  return [`-c:${specifier}`, encoder, ...options.map((option) => option.replace('{s}', specifier))]
}

export interface AudioChoices {
  /** Codec to use instead of the original's (ffprobe's name). */
  readonly audioCodec?: string | undefined
  /** Codec if the original's cannot be written: ffprobe's name, or `pcm` for the lossless kind that fits. */
  readonly fallbackCodec?: string | undefined
  /** Bits per second of a lossy codec for one or two channels, if the original's bit rate is not known. */
  readonly fallbackBitRate?: number | undefined
  /** Measured bits per second of a track's packets, by place among the audio streams. */
  readonly measuredBitRates?: ReadonlyMap<number, number> | undefined
  /** Further options of the encoder of ffmpeg for AAC. */
  readonly aacOptions?: readonly string[] | undefined
  /** Further options for a track that keeps its codec, by place among the audio streams. */
  readonly ownOptions?: ReadonlyMap<number, readonly string[]> | undefined
  /** Channels of new voices that differ from their tracks, by place among the audio streams. */
  readonly mixedTo?: ReadonlyMap<number, number> | undefined
}

/** A track with another number of channels, in their usual layout. */
export function withChannels(stream: AudioStreamInfo, channels: number): AudioStreamInfo {
  return channels === stream.channels ? stream : { ...stream, channels, channelLayout: null }
}

/** A track with the channels of its new voice. */
export function mixedTrack(stream: AudioStreamInfo, { mixedTo }: Pick<AudioChoices, 'mixedTo'>): AudioStreamInfo {
  return withChannels(stream, mixedTo?.get(stream.audioIndex) ?? stream.channels)
}

interface LossyCodec {
  readonly encoder: string
  /** For each channel, if the file states no bit rate. */
  readonly usualKbit: number
  /** For each channel. */
  readonly mostKbit: number
  /** Lowest bit rate of all channels that the encoder accepts. */
  readonly leastKbit?: number
  /** Bit rates of the format in kbit/s, if it allows only some. */
  readonly steps?: readonly number[]
  readonly mostChannels?: number
  /** Sample rates of the format. */
  readonly rates?: readonly number[]
}

const K = 1000
/** Bit rates of AC-3 in kbit/s (ATSC A/52, table 5.18). */
export const AC3_STEPS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
const MP3_STEPS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const MP2_STEPS = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]

const AC3_RATES = [32_000, 44_100, 48_000]
const MP2_RATES = [16_000, 22_050, 24_000, ...AC3_RATES]
const MP3_RATES = [8000, 11_025, 12_000, ...MP2_RATES]

const WMA = { usualKbit: 96, mostKbit: 160, leastKbit: 24, mostChannels: 2 }

const LOSSY: Readonly<Record<string, LossyCodec>> = {
  aac: { encoder: 'aac', usualKbit: 96, mostKbit: 256 },
  mp3: { encoder: 'libmp3lame', usualKbit: 128, mostKbit: 320, steps: MP3_STEPS, mostChannels: 2, rates: MP3_RATES },
  mp2: { encoder: 'mp2', usualKbit: 128, mostKbit: 192, steps: MP2_STEPS, mostChannels: 2, rates: MP2_RATES },
  ac3: { encoder: 'ac3', usualKbit: 96, mostKbit: 256, steps: AC3_STEPS, mostChannels: 6, rates: AC3_RATES },
  eac3: { encoder: 'eac3', usualKbit: 96, mostKbit: 256, mostChannels: 6, rates: AC3_RATES },
  opus: { encoder: 'libopus', usualKbit: 80, mostKbit: 256 },
  vorbis: { encoder: 'libvorbis', usualKbit: 96, mostKbit: 192 },
  speex: { encoder: 'libspeex', usualKbit: 28, mostKbit: 44, mostChannels: 2 },
  wmav2: { encoder: 'wmav2', ...WMA },
  wmav1: { encoder: 'wmav1', ...WMA },
}
const BLU_RAY_RATES = [48_000, 96_000, 192_000]
const LOSSLESS_ENCODERS = new Set(['flac', 'alac', 'wavpack', 'tta', 's302m'])
/** PCM kinds that ffmpeg reads but does not write everywhere. */
const PCM_WITHOUT_ENCODER = new Set(['pcm_lxf', 'pcm_f16le', 'pcm_f24le', 'pcm_sga', 'pcm_zork'])

/** True if common builds of ffmpeg can write this codec. */
function canEncode(codec: string): boolean {
  if (codec.startsWith('pcm_')) return !PCM_WITHOUT_ENCODER.has(codec)
  return codec in LOSSY || LOSSLESS_ENCODERS.has(codec)
}

/** Entries of a container that takes little-endian PCM of every kind. */
const ANY_KIND: ReadonlySet<string> = new Set(['pcm_*', 'pcm_s16le'])

/**
 * Chooses codec and bit rate of a replaced track. The first codec that the container can carry wins.
 * Order: requested, original, lossless (if the original is), fallback, default of the container.
 */
export function audioEncoding(
  stream: AudioStreamInfo,
  profile: ContainerProfile,
  wishes: AudioChoices,
): AudioEncoding | undefined {
  const { channels } = mixedTrack(stream, wishes)
  const usable = (codec: string | null | undefined): codec is string =>
    typeof codec === 'string' && canEncode(codec) && carriesAudio(profile, codec) && channels <= mostChannels(codec)
  // AIFF and AU hold only the second kind, and a Blu-ray the third.
  const pcm = [`pcm_${pcmKind(stream)}le`, `pcm_${pcmKind(stream)}be`, 'pcm_bluray']
  const lossless = losesNothing(stream)
    ? stream.codec?.startsWith('pcm_')
      ? [...pcm, 'flac', 'alac']
      : ['flac', 'alac', ...pcm]
    : []
  const fallback = wishes.fallbackCodec === 'pcm' ? pcm : [wishes.fallbackCodec]
  const usual = profile.audioCodecs.flatMap((known) => (ANY_KIND.has(known) ? [...pcm, known] : known))
  const kin = LOSSY_KIN[stream.codec ?? ''] ?? []
  const codecs = [wishes.audioCodec, stream.codec, ...lossless, ...fallback, ...kin, ...usual].filter(usable)
  const codec = codecs.find((candidate) => candidate === stream.codec || hasRate(candidate, stream)) ?? codecs[0]
  if (codec === undefined) return undefined
  if (codec.startsWith('pcm_')) {
    const options = codec === 'pcm_bluray' ? ['-sample_fmt:{s}', stream.sampleFormat === 's16' ? 's16' : 's32'] : []
    return { codec, encoder: codec, lossless: true, bitRate: null, options }
  }
  if (LOSSLESS_ENCODERS.has(codec)) return losslessEncoding(codec, stream)
  return lossyEncoding(codec, stream, wishes)
}

/** DTS-HD Master Audio has the codec name DTS, but is lossless. */
function losesNothing({ codec, profile }: AudioStreamInfo): boolean {
  return isLossless(codec) || (codec === 'dts' && profile === 'DTS-HD MA')
}

/** Channels that a codec holds. Its encoder would mix further ones into these. */
function mostChannels(codec: string): number {
  return LOSSY[codec]?.mostChannels ?? Number.POSITIVE_INFINITY
}

/** True if a codec holds the samples of a track as they are. Its encoder would resample others. */
function hasRate(codec: string, { sampleRate }: AudioStreamInfo): boolean {
  const rates = codec === 'pcm_bluray' ? BLU_RAY_RATES : LOSSY[codec]?.rates
  return rates?.includes(sampleRate) ?? true
}

/** The nearest codecs to one that ffmpeg can only read, or cannot write into CAF. */
const LOSSY_KIN: Readonly<Record<string, readonly string[]>> = {
  wmapro: ['wmav2', 'ac3'],
  wmavoice: ['wmav2', 'ac3'],
  wmalossless: ['wmav2', 'ac3'],
  aac_latm: ['aac'],
  aac: ['alac'],
  dts: ['flac', 'ac3'],
  truehd: ['ac3'],
}

function pcmKind({ codec, sampleFormat, bitsPerSample }: AudioStreamInfo): string {
  if (sampleFormat === 'dbl') return 'f64'
  if (sampleFormat === 'flt' || (sampleFormat === 'fltp' && isLossless(codec))) return 'f32'
  if ((bitsPerSample ?? 16) <= 16) return 's16'
  return (bitsPerSample ?? 24) <= 24 ? 's24' : 's32'
}

function losslessEncoding(codec: string, stream: AudioStreamInfo): AudioEncoding {
  // WavPack alone holds floating point, which may go beyond full scale.
  const isFloat = codec === 'wavpack' && stream.sampleFormat?.startsWith('flt') === true
  const deep = stream.bitsPerSample !== null ? stream.bitsPerSample > 16 : stream.sampleFormat !== 's16'
  const planar = codec === 'alac' || codec === 'wavpack' ? 'p' : ''
  const format = isFloat ? 'fltp' : `${deep ? 's32' : 's16'}${planar}`
  // Without the option, ffmpeg's version decides if FLAC from s32 has 24 or (experimental) 32 bits.
  const bits = codec === 'wavpack' && (stream.bitsPerSample ?? 24) > 24 ? '32' : '24'
  const depth = deep && !isFloat ? ['-bits_per_raw_sample:{s}', bits] : []
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

/** Lower stated rates per channel are ignored: real files state 1 and 128 bit/s. */
const LEAST_BIT_RATE_PER_CHANNEL = 4 * K

function lossyEncoding(codec: string, stream: AudioStreamInfo, wishes: AudioChoices): AudioEncoding {
  const known = LOSSY[codec] as LossyCodec
  if (codec === 'vorbis' && stream.sampleRate > VORBIS_RATED) {
    return { codec, encoder: known.encoder, lossless: false, bitRate: null, options: ['-q:{s}', VORBIS_QUALITY] }
  }
  const channels = Math.max(1, stream.channels)
  const own = stream.codec === codec ? ownBitRate(stream, wishes) : null
  const worth = own === null ? null : own * worthInLc(stream.profile)
  const fallback = wishes.fallbackBitRate === undefined ? null : wishes.fallbackBitRate * Math.max(1, channels / 2)
  const wanted = worth ?? fallback ?? known.usualKbit * K * channels
  const { least, most } = bitRateLimits(codec, known, stream.sampleRate)
  const capped = Math.min(Math.max(wanted, least * channels, (known.leastKbit ?? 0) * K), most * channels)
  const steps = known.steps
  const bitRate = steps ? (steps.find((step) => step * K >= capped - 500) ?? (steps.at(-1) as number)) * K : capped
  // Without it, libopus refuses a sound field.
  const field = codec === 'opus' && isSoundField(stream) ? ['-mapping_family:{s}', '2'] : []
  const like = codec === 'aac' ? wishes.aacOptions : codec === stream.codec && wishes.ownOptions?.get(stream.audioIndex)
  const options = ['-b:{s}', String(Math.round(bitRate)), ...(like || []), ...field]
  return { codec, encoder: known.encoder, lossless: false, bitRate, options }
}

/** How much more LC needs, the only profile of ffmpeg's own encoder: HE-AAC derives treble, its version 2 also stereo. */
function worthInLc(profile: string | null): number {
  return profile === 'HE-AACv2' ? 3 : profile === 'HE-AAC' ? 2 : 1
}

/** Codecs whose frames state their bit rate. */
const RATED_CODECS: ReadonlySet<string> = new Set(['mp2', 'mp3', 'ac3', 'eac3'])
/** Share by which the packets of such a track may differ from its rate, if a frame was cut off. */
const CUT_SHARE = 0.05

/** Bit rate of the packets if they were counted, else of the header if it is plausible. */
function ownBitRate(stream: AudioStreamInfo, { measuredBitRates }: AudioChoices): number | null {
  const least = LEAST_BIT_RATE_PER_CHANNEL * Math.max(1, stream.channels)
  const { codec, bitRate } = stream
  const measured = measuredBitRates?.get(stream.audioIndex)
  const isStated = RATED_CODECS.has(codec ?? '') && Math.abs((measured ?? 0) / (bitRate ?? 1) - 1) < CUT_SHARE
  const rates = [isStated ? bitRate : measured, bitRate]
  return rates.find((rate): rate is number => typeof rate === 'number' && rate >= least) ?? null
}

/** Bits per second and channel that libvorbis accepts, up to each sample rate (narrower limits of its `setup_*.h`). */
const VORBIS_LIMITS: readonly { readonly upTo: number; readonly least: number; readonly most: number }[] = [
  { upTo: 9_000, least: 8 * K, most: 32 * K },
  { upTo: 15_000, least: 12 * K, most: 44 * K },
  { upTo: 26_000, least: 16 * K, most: 86 * K },
  { upTo: 40_000, least: 30 * K, most: 190 * K },
  { upTo: Number.POSITIVE_INFINITY, least: 32 * K, most: 192 * K },
]

/** The highest sample rate for which libvorbis accepts a bit rate. */
const VORBIS_RATED = 50_000
/** About 100 kbit/s a channel. */
const VORBIS_QUALITY = '6'

/** Bits per sample and channel below which artifacts are audible at any sample rate: 26 kbit/s at 44.1 kHz. */
const LEAST_BITS_PER_SAMPLE = 0.6
/** MPEG-2 layer II below 32 kHz allows at most 160 kbit/s for all channels. */
const MOST_LOW_RATE_MP2 = 80 * K

function bitRateLimits(codec: string, known: LossyCodec, sampleRate: number) {
  const vorbis = codec === 'vorbis' ? VORBIS_LIMITS.find(({ upTo }) => sampleRate <= upTo) : undefined
  if (vorbis) return vorbis
  const most = codec === 'mp2' && sampleRate < 32 * K ? MOST_LOW_RATE_MP2 : known.mostKbit * K
  return { least: Math.max(LEAST_BIT_RATE_PER_CHANNEL, LEAST_BITS_PER_SAMPLE * sampleRate), most }
}
