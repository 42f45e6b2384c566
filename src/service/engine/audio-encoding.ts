import type { OutputType } from '../../contract/index.js'
import { type AudioStreamInfo, blockSizeOptions, type MediaInfo } from '../../media/index.js'

/** How a voice is written as a file of one of the interface's types. */
export interface AudioEncoding {
  /** ffmpeg's muxer: the output's name need not have the right extension. */
  readonly muxer: string
  /** Codec and its options, then the muxer's. */
  readonly options: readonly string[]
  /** Whether the file can hold a cover picture. */
  readonly takesCover: boolean
}

/** The encoding of a type, as close to the source as the type allows: same width if lossless, same bit rate if lossy. */
export function audioEncoding(type: OutputType, source: AudioStreamInfo): AudioEncoding {
  switch (type) {
    case 'wav':
      // RF64 only where 4 GB are exceeded.
      return { muxer: 'wav', options: ['-c:a', pcmCodec(source, 'le'), '-rf64', 'auto'], takesCover: false }
    case 'aiff':
      return { muxer: 'aiff', options: ['-c:a', pcmCodec(source, 'be')], takesCover: false }
    case 'flac':
      return { muxer: 'flac', options: flacOptions(source), takesCover: true }
    case 'mp3':
      // The Xing header carries the encoder's delay and padding, so that players drop them.
      return {
        muxer: 'mp3',
        options: ['-c:a', 'libmp3lame', ...bitRate(source, 'mp3', 128_000, 320_000), '-write_xing', '1'],
        takesCover: true,
      }
    case 'ogg':
      return { muxer: 'ogg', options: ['-c:a', 'libvorbis', '-q:a', '6'], takesCover: false }
    case 'opus':
      return {
        muxer: 'opus',
        options: ['-c:a', 'libopus', ...bitRate(source, 'opus', 96_000, 256_000)],
        takesCover: false,
      }
    case 'aac':
      // Raw AAC has no place to say that its first frame is the encoder's start-up: without it the sound is in sync.
      return {
        muxer: 'adts',
        options: ['-c:a', 'aac', ...bitRate(source, 'aac', 128_000, 320_000), '-bsf:a', 'noise=drop=eq(n\\,0)'],
        takesCover: false,
      }
    case 'm4a':
      return {
        muxer: 'ipod',
        options: ['-c:a', 'aac', ...bitRate(source, 'aac', 128_000, 320_000), '-movflags', '+faststart'],
        takesCover: true,
      }
    default:
      return type satisfies never
  }
}

/** A WAV that also writes its bext chunk where the file it came from has one: ffmpeg reads that as tags. */
export function withBroadcastChunk(encoding: AudioEncoding, { tags }: MediaInfo): AudioEncoding {
  const isBroadcast = BROADCAST_TAGS.some((name) => name in tags)
  return isBroadcast ? { ...encoding, options: [...encoding.options, '-write_bext', '1'] } : encoding
}

const BROADCAST_TAGS = ['originator', 'originator_reference', 'origination_date', 'time_reference', 'coding_history']

/** Uncompressed PCM of the source's width; what was lossy or is of unknown width gets 16 bits. */
function pcmCodec({ bitsPerSample, sampleFormat }: AudioStreamInfo, endian: 'le' | 'be'): string {
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

/** The source's own rate where it is of that codec, else the default for so many channels. */
function bitRate(source: AudioStreamInfo, codec: string, perChannel: number, most: number): readonly string[] {
  const own = source.codec === codec ? source.bitRate : null
  return ['-b:a', String(Math.min(most, own ?? perChannel * source.channels))]
}
