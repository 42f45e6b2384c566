import { PrecheckError } from '../../src/core/errors.js'
import { ADTS_HEAD_BYTES, adtsLength } from '../../src/media/probe/adts-length.js'

/** Fields in the header of each ADTS frame. */
export interface AdtsFormat {
  /** MPEG-4 audio object type; 2 is AAC-LC. */
  readonly objectType: number
  /** Index into the table of sample rates. */
  readonly rateIndex: number
  /** 1 to 7: as many channels, but 7 means eight. */
  readonly channelConfiguration: number
}

const SAMPLE_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]

/** Sample rate in Hz. */
export function sampleRateOf(format: AdtsFormat): number {
  return SAMPLE_RATES[format.rateIndex] as number
}

/** Reads the two bytes that begin every AudioSpecificConfig of a plain format. Throws PrecheckError ERR_HLS_CODEC. */
export function formatOfConfig(config: Buffer, name: string): AdtsFormat {
  if (config.length < 2) throw notAacLc(name)
  const bits = config.readUInt16BE(0)
  return checked({ objectType: bits >> 11, rateIndex: (bits >> 7) & 15, channelConfiguration: (bits >> 3) & 15 }, name)
}

/** Reads the header of an ADTS frame. Throws PrecheckError ERR_HLS_CODEC. */
export function formatOfFrame(frame: Buffer, name: string): AdtsFormat {
  const [, , third = 0, fourth = 0] = frame
  const channelConfiguration = ((third & 1) << 2) | (fourth >> 6)
  return checked({ objectType: (third >> 6) + 1, rateIndex: (third >> 2) & 15, channelConfiguration }, name)
}

/** One frame as it stands in an MP4, with the header that a stream of frames needs. */
export function withHeader(payload: Buffer, { objectType, rateIndex, channelConfiguration }: AdtsFormat): Buffer {
  const length = payload.length + ADTS_HEAD_BYTES
  const header = Buffer.from([
    // Sync word, MPEG-4, no CRC.
    ...[0xff, 0xf1],
    ((objectType - 1) << 6) | (rateIndex << 2) | (channelConfiguration >> 2),
    ((channelConfiguration & 3) << 6) | (length >> 11),
    (length >> 3) & 0xff,
    // Fullness of the buffer: variable.
    ((length & 7) << 5) | 0x1f,
    0xfc,
  ])
  return Buffer.concat([header, payload])
}

/** A frame without its header, as it stands in an MP4. */
export function withoutHeader(frame: Buffer): Buffer {
  // The bit says that no CRC follows.
  return frame.subarray((frame[1] as number) & 1 ? ADTS_HEAD_BYTES : ADTS_HEAD_BYTES + 2)
}

/** Length of the ADTS frame that begins at a place, null if none begins there, or not all of it is there. */
export function wholeFrameLength(bytes: Buffer, at: number): number | null {
  const length = adtsLength(bytes, at)
  return length > 0 && at + length <= bytes.length ? length : null
}

function checked(format: AdtsFormat, name: string): AdtsFormat {
  const { objectType, channelConfiguration } = format
  const known = objectType === 2 && sampleRateOf(format) !== undefined
  if (!known || channelConfiguration < 1 || channelConfiguration > 7) throw notAacLc(name)
  return format
}

/** Only AAC-LC can be written with frames of the same length as those that were there. */
export function notAacLc(name: string): PrecheckError {
  return new PrecheckError('ERR_HLS_CODEC', `The sound of ${name} is not AAC-LC: its frames cannot be replaced.`, {
    input: name,
    remedies: ['Package the film with AAC-LC sound (mp4a.40.2), or regenerate it before it is packaged.'],
  })
}

export function muxedAudio(holder: string, input: string): PrecheckError {
  return new PrecheckError('ERR_HLS_MUXED_AUDIO', `${holder} more than one track of sound.`, {
    input,
    remedies: ['Package sound and picture into segments of their own.'],
  })
}

export function brokenSegment(name: string, what: string): PrecheckError {
  return new PrecheckError('ERR_HLS_SEGMENT', `A segment of ${name} ${what}.`, {
    input: name,
    remedies: ['Copy the complete package again.'],
  })
}

/** How the sound lies in the segments of a rendition. A frame is a whole ADTS frame in every container. */
export interface SegmentFormat {
  /** The frames of a segment, in order. */
  framesOf(segment: Buffer): readonly Buffer[]
  /**
   * The same segment with other frames, as many as it had. Times, and everything that is not a frame, stay.
   *
   * Segments must be handed in in the order of the playlist.
   */
  withFrames(segment: Buffer, frames: readonly Buffer[]): Buffer
}
