import type { AudioStreamInfo } from '../media-info.js'
import { blockSizeOptions } from '../pcm/block-size.js'
import { isLossless } from '../probe/media-info-of.js'

/** Lossless storage of a voice between cut and service. */
export interface CutEncoding {
  readonly format: 'flac' | 'wav'
  /** Sample format from the filter graph to the encoder. */
  readonly sampleFormat: 's16' | 's32' | 'flt' | 'dbl'
  readonly bits: 16 | 24 | 32 | 64
  /** Encoder and muxer options. */
  readonly options: readonly string[]
}

const FLAC_MAX_CHANNELS = 8

/**
 * FLAC of 16 or 24 bits. WAV if FLAC would lose something: float and 32-bit samples of a lossless source, more
 * channels, or an unsupported rate. The output of lossy codecs is stored in 16 bits. Their noise is far below what the
 * codec left out, and 8 more bits of noise would more than double the size.
 */
export function cutEncoding(stream: AudioStreamInfo, channels: number): CutEncoding {
  const lossless = isLossless(stream.codec)
  if (lossless && stream.sampleFormat === 'dbl') return wav('dbl', 64, 'pcm_f64le')
  if (lossless && /^fltp?$/.test(stream.sampleFormat ?? '')) return wav('flt', 32, 'pcm_f32le')
  const narrow = !lossless || stream.sampleFormat === 's16' || stream.sampleFormat === 'u8'
  const deep = !narrow && (stream.bitsPerSample === null || stream.bitsPerSample > 24)
  if (deep) return wav('s32', 32, 'pcm_s32le')
  if (channels > FLAC_MAX_CHANNELS || !hasFlacRate(stream.sampleRate)) {
    return narrow ? wav('s16', 16, 'pcm_s16le') : wav('s32', 24, 'pcm_s24le')
  }
  return narrow ? flac('s16', 16) : flac('s32', 24)
}

/** Rates that a FLAC frame header can express (RFC 9639, section 9.1.2). */
function hasFlacRate(rate: number): boolean {
  return rate < 65_536 || (rate % 10 === 0 && rate < 655_350) || (rate % 1000 === 0 && rate < 255_000)
}

function flac(sampleFormat: 's16' | 's32', bits: 16 | 24): CutEncoding {
  // s32 means 24 bits only with this option, because ffmpeg 7 also supports 32-bit FLAC.
  const depth = bits === 24 ? ['-bits_per_raw_sample', '24'] : []
  const options = ['-c:a', 'flac', ...blockSizeOptions('flac', 'a'), ...depth, '-f', 'flac']
  return { format: 'flac', sampleFormat, bits, options }
}

function wav(sampleFormat: CutEncoding['sampleFormat'], bits: CutEncoding['bits'], codec: string): CutEncoding {
  // rf64 auto: a plain WAV up to 4 GB, RF64 above.
  return { format: 'wav', sampleFormat, bits, options: ['-c:a', codec, '-f', 'wav', '-rf64', 'auto'] }
}
