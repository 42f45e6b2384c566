import type { AudioStreamInfo } from '../media-info.js'

/** Sample types that hold every source without loss. 24-bit integers use `s32`, left aligned as in ffmpeg. */
export type SampleType = 's16' | 's32' | 'f32' | 'f64'

/** Raw PCM: interleaved, little-endian. */
export interface PcmFormat {
  readonly sampleRate: number
  readonly channels: number
  /** ffmpeg's layout name, such as `stereo`, `5.1(side)`, `3 channels`. */
  readonly channelLayout: string
  readonly sample: SampleType
}

/** A stream of raw PCM. One *sample* means all channels at one instant (a frame of {@link frameBytes} bytes). */
export interface PcmStream {
  readonly format: PcmFormat
  /** Number of samples in all {@link buffers}; null if it is unknown before the end. */
  readonly sampleCount: number | null
  /**
   * The samples from the first one, in buffers of whole frames. A buffer is valid until the next one is requested: copy
   * what is kept. Nothing is read ahead beyond a pipe's buffer. Each call reads again from the start. Leaving the loop
   * early ends the source.
   */
  buffers(): AsyncIterable<Buffer>
  /** The parts that differ from a decoded track, with sound around them, if these can be read without the rest. */
  readonly sections?: readonly PcmSection[] | undefined
}

/** A part of a stream, in samples of the stream. */
export interface PcmSection {
  readonly startSample: number
  readonly stream: PcmStream
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

/** ffmpeg's name of raw PCM of that type, for muxer (`-f s16le`) and demuxer. */
export function rawFormatName(sample: SampleType): `${SampleType}le` {
  return `${sample}le`
}

/** ffmpeg's encoder of that type (`-c:a pcm_s16le`). */
export function pcmCodecName(sample: SampleType): `pcm_${SampleType}le` {
  return `pcm_${sample}le`
}

/**
 * By ffmpeg's sample format. A 16-bit source that its decoder widens (some ALAC) fits 16 bits, but the decoder's type is
 * safer.
 */
const TYPES: Readonly<Record<string, SampleType>> = {
  ...{ u8: 's16', s16: 's16', s32: 's32', s64: 's32', flt: 'f32', dbl: 'f64' },
}

/**
 * The PCM that holds a track without losing a bit: integers up to 16 bits as `s16`, wider ones as `s32`, floats
 * unchanged. Lossy codecs decode to float and stay so, which avoids clipping before the final encode.
 */
export function pcmFormatFor(
  stream: Pick<AudioStreamInfo, 'sampleRate' | 'channels' | 'channelLayout' | 'sampleFormat' | 'bitsPerSample'>,
): PcmFormat {
  return {
    sampleRate: stream.sampleRate,
    channels: stream.channels,
    channelLayout: stream.channelLayout ?? defaultChannelLayout(stream.channels),
    sample: sampleTypeFor(stream.sampleFormat, stream.bitsPerSample),
  }
}

function sampleTypeFor(sampleFormat: string | null, bitsPerSample: number | null): SampleType {
  const known = TYPES[sampleFormat?.replace(/p$/, '') ?? '']
  return known ?? (bitsPerSample !== null && bitsPerSample <= 16 ? 's16' : 'f32')
}

const LAYOUTS: readonly string[] = ['mono', 'stereo', '2.1', '4.0', '5.0', '5.1', '6.1', '7.1']

/** The layout that ffmpeg assumes for a channel count if the file names none. */
export function defaultChannelLayout(channels: number): string {
  return LAYOUTS[channels - 1] ?? `${channels} channels`
}
