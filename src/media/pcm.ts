import type { AudioStreamInfo } from './media-info.js'

/** Sample types that carry every source without loss; 24-bit integers travel in `s32`, left aligned as in ffmpeg. */
export type SampleType = 's16' | 's32' | 'f32' | 'f64'

/** Raw PCM: interleaved, little-endian. */
export interface PcmFormat {
  readonly sampleRate: number
  readonly channels: number
  /** ffmpeg's layout name, e.g. `stereo`, `5.1(side)`, `3 channels`. */
  readonly channelLayout: string
  readonly sample: SampleType
}

/** Raw PCM that flows. One *sample* counts all channels at one instant (a frame of {@link frameBytes} bytes). */
export interface PcmStream {
  readonly format: PcmFormat
  /** How many samples {@link chunks} yields in all; null where only reading to the end tells. */
  readonly sampleCount: number | null
  /**
   * The samples from the first on, in chunks of whole frames. Pulled: nothing is read ahead of its reader beyond
   * a pipe's buffer. Each call reads anew from the start; leaving the loop early ends the source.
   */
  chunks(): AsyncIterable<Buffer>
}

const BYTES: Readonly<Record<SampleType, number>> = { s16: 2, s32: 4, f32: 4, f64: 8 }

/** Bytes of one value of one channel. */
export function sampleBytes(sample: SampleType): number {
  return BYTES[sample]
}

/** Bytes of one instant of all channels. */
export function frameBytes(format: Pick<PcmFormat, 'sample' | 'channels'>): number {
  return BYTES[format.sample] * format.channels
}

/** ffmpeg's name of raw PCM of that type, muxer (`-f s16le`) and demuxer alike. */
export function rawFormatName(sample: SampleType): `${SampleType}le` {
  return `${sample}le`
}

/** ffmpeg's encoder of that type (`-c:a pcm_s16le`). */
export function pcmCodecName(sample: SampleType): `pcm_${SampleType}le` {
  return `pcm_${sample}le`
}

/**
 * The PCM in which a track can be decoded and written again without losing a bit: integers of up to 16 bits as
 * `s16`, wider ones as `s32`, floats as they are. Lossy codecs decode to float and stay so: nothing is clipped
 * before the one encode at the end.
 */
export function pcmFormatFor(stream: AudioStreamInfo): PcmFormat {
  return {
    sampleRate: stream.sampleRate,
    channels: stream.channels,
    channelLayout: stream.channelLayout ?? defaultChannelLayout(stream.channels),
    sample: sampleTypeFor(stream.sampleFormat, stream.bitsPerSample),
  }
}

function sampleTypeFor(sampleFormat: string | null, bitsPerSample: number | null): SampleType {
  switch (sampleFormat?.replace(/p$/, '')) {
    case 'u8':
    case 's16':
      return 's16'
    case 's32':
      // A 16-bit source that its decoder widens (some ALAC) fits 16 bits, but the decoder's own type is the safe one.
      return 's32'
    case 'dbl':
      return 'f64'
    case 's64':
      return 's32'
    case 'flt':
      return 'f32'
    default:
      return bitsPerSample !== null && bitsPerSample <= 16 ? 's16' : 'f32'
  }
}

const LAYOUTS: readonly string[] = ['mono', 'stereo', '2.1', '4.0', '5.0', '5.1', '6.1', '7.1']

/** The layout ffmpeg assumes for so many channels where the file names none. */
export function defaultChannelLayout(channels: number): string {
  return LAYOUTS[channels - 1] ?? `${channels} channels`
}
