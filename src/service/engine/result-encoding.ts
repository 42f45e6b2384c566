import type { OutputType } from '../../contract/index.js'
import { type AudioStreamInfo, blockSizeOptions, levelFilters } from '../../media/index.js'

/** ffmpeg options that write a voice as a file of one of the interface's types. */
export interface ResultEncoding {
  /** ffmpeg's muxer, because the output's name need not have the right extension. */
  readonly muxer: string
  /** The codec and its options, then the muxer's. */
  readonly options: readonly string[]
  /** True if the file can hold a cover picture. */
  readonly takesCover: boolean
}

/** The encoding that is as close to the source as the type allows: same width if lossless, same bit rate if lossy. */
export function resultEncoding(type: OutputType, source: AudioStreamInfo): ResultEncoding {
  switch (type) {
    case 'wav':
      // RF64 only above 4 GB.
      return { muxer: 'wav', options: ['-c:a', pcmCodec(source, 'le'), '-rf64', 'auto'], takesCover: false }
    case 'aiff':
      return { muxer: 'aiff', options: ['-c:a', pcmCodec(source, 'be')], takesCover: false }
    case 'flac':
      return { muxer: 'flac', options: flacOptions(source), takesCover: true }
    case 'mp3':
      return { muxer: 'mp3', options: mp3Options(bitRate(source, 'mp3', 128_000, 320_000)), takesCover: true }
    case 'ogg':
      return { muxer: 'ogg', options: ['-c:a', 'libvorbis', '-q:a', '6'], takesCover: false }
    case 'opus':
      return {
        muxer: 'opus',
        options: ['-c:a', 'libopus', ...rateOptions(bitRate(source, 'opus', 96_000, 256_000))],
        takesCover: false,
      }
    case 'aac':
      // Raw AAC cannot mark its first frame as the encoder's priming. The sound is in sync without that frame.
      return {
        muxer: 'adts',
        options: [
          '-c:a',
          'aac',
          ...rateOptions(bitRate(source, 'aac', 128_000, 320_000)),
          '-bsf:a',
          'noise=drop=eq(n\\,0)',
        ],
        takesCover: false,
      }
    case 'm4a':
      return {
        muxer: 'ipod',
        options: ['-c:a', 'aac', ...rateOptions(bitRate(source, 'aac', 128_000, 320_000)), '-movflags', '+faststart'],
        takesCover: true,
      }
    default:
      return type satisfies never
  }
}

/** Uncompressed PCM in the source's width; 16 bits if the source is lossy or its width is unknown. */
function pcmCodec({ codec, bitsPerSample, sampleFormat }: AudioStreamInfo, endian: 'le' | 'be'): string {
  // Eight bits of a logarithm, which eight linear ones cannot hold.
  if (codec === 'pcm_mulaw' || codec === 'pcm_alaw') return codec
  if (bitsPerSample === null) return `pcm_s16${endian}`
  const kind = sampleFormat?.replace(/p$/, '')
  if (kind === 'flt') return `pcm_f32${endian}`
  if (kind === 'dbl') return `pcm_f64${endian}`
  if (bitsPerSample <= 8) return endian === 'le' ? 'pcm_u8' : 'pcm_s8'
  if (bitsPerSample <= 16) return `pcm_s16${endian}`
  return bitsPerSample <= 24 ? `pcm_s24${endian}` : `pcm_s32${endian}`
}

/** FLAC holds at most 24 bits. */
function flacOptions({ bitsPerSample }: AudioStreamInfo): readonly string[] {
  const flac = ['-c:a', 'flac', ...blockSizeOptions('flac', 'a')]
  if (bitsPerSample === null || bitsPerSample <= 16) return [...flac, '-sample_fmt', 's16']
  return [...flac, '-sample_fmt', 's32', '-bits_per_raw_sample', '24']
}

function mp3Options(bitRate: number): readonly string[] {
  const level = levelFilters({ encoder: 'libmp3lame', bitRate })
  // Players read the encoder's delay and padding from the Xing header and drop them.
  const encoder = ['-c:a', 'libmp3lame', ...rateOptions(bitRate), '-write_xing', '1']
  return level.length > 0 ? ['-filter:a', level.join(','), ...encoder] : encoder
}

const rateOptions = (bitRate: number) => ['-b:a', String(bitRate)]

/** The source's own bit rate if it has that codec, else the default for this number of channels, in bits per second. */
function bitRate(source: AudioStreamInfo, codec: string, perChannel: number, most: number): number {
  const own = source.codec === codec ? source.bitRate : null
  return Math.min(most, own ?? perChannel * source.channels)
}
