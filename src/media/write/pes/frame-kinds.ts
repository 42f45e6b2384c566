import { adtsLength } from '../../probe/adts-length.js'
import { ac3Length, eac3Length } from '../frames/dolby-frames.js'
import { layerThreeLength, layerTwoLength } from '../frames/mpeg-frames.js'

/** Bytes from which a kind reads the length and the facts of a frame. */
export const FRAME_HEAD_BYTES = 8

/** A coding whose frames state their length. Functions read {@link FRAME_HEAD_BYTES} bytes. */
export interface FrameKind {
  /** Types in the table of a program (ISO/IEC 13818-1, ATSC A/53, ETSI TS 101 154). */
  readonly streamTypes: readonly number[]
  /** 0 if no frame begins there. */
  readonly lengthAt: (bytes: Buffer, at: number) => number
  /** Version, sample rate and channels, which do not change in a track. Negative for a form that voxmux does not write. */
  readonly formOf: (bytes: Buffer, at: number) => number
  /** Samples of a frame of that form. */
  readonly samplesOf: (form: number) => number
  /** Every unit is one frame, so the first frame need not be searched. */
  readonly isUnit?: true
  /** Longest frame in bytes, by its channels. */
  readonly mostBytes: (channels: number) => number
}

const LOW_RATE_LAYER_3_SAMPLES = 576
const [LAYER_2_OR_3_SAMPLES, DOLBY_SAMPLES, AAC_SAMPLES] = [1152, 1536, 1024]
/** Bit of the header of MPEG audio that is 1 in MPEG-1. */
const MPEG_1 = 0x80000
/** Version, layer and sample rate in the header of MPEG audio. */
const SAME_IN_ALL = 0x1e0c00
/** Two sounds in one track, such as two languages. */
const DUAL_MONO = 2

const mpeg = (lengthAt: FrameKind['lengthAt'], lowRateSamples: number): FrameKind => ({
  // 6 is private: ffmpeg writes it into `.m2ts`, and its readers look at the frames.
  streamTypes: [0x03, 0x04, 0x06],
  lengthAt,
  formOf: (bytes, at) => {
    const head = bytes.readUInt32BE(at)
    const mode = (head >>> 6) & 3
    return mode === DUAL_MONO ? -1 : (head & SAME_IN_ALL) | (mode === 3 ? 1 : 0)
  },
  samplesOf: (form) => ((form & MPEG_1) !== 0 ? LAYER_2_OR_3_SAMPLES : lowRateSamples),
  mostBytes: () => 2880,
})

/** By ffmpeg's name of the codec. */
export const FRAME_KINDS: Readonly<Record<string, FrameKind>> = {
  mp2: mpeg(layerTwoLength, LAYER_2_OR_3_SAMPLES),
  mp3: mpeg(layerThreeLength, LOW_RATE_LAYER_3_SAMPLES),
  ac3: {
    streamTypes: [0x81, 0x06],
    lengthAt: ac3Length,
    formOf: ac3Form,
    samplesOf: () => DOLBY_SAMPLES,
    mostBytes: () => 3840,
  },
  eac3: {
    streamTypes: [0x87, 0x84, 0x06],
    lengthAt: eac3Length,
    formOf: eac3Form,
    samplesOf: () => DOLBY_SAMPLES,
    mostBytes: () => 4096,
  },
  aac: {
    streamTypes: [0x0f],
    lengthAt: adtsLength,
    formOf: adtsForm,
    samplesOf: () => AAC_SAMPLES,
    // 6144 bits a channel (ISO/IEC 14496-3), and a header.
    mostBytes: (channels) => 768 * channels + 16,
  },
}

/** Sample rate, version, channels and bass channel of AC-3 (ATSC A/52, 5.3). */
function ac3Form(bytes: Buffer, at: number): number {
  const [rate, version] = [(bytes[at + 4] as number) >> 6, (bytes[at + 5] as number) >> 3]
  const info = bytes.readUInt16BE(at + 6)
  const mode = info >> 13
  const mixes = (mode !== 1 && (mode & 1) !== 0 ? 2 : 0) + ((mode & 4) !== 0 ? 2 : 0) + (mode === 2 ? 2 : 0)
  const bass = (info >> (12 - mixes)) & 1
  return mode === 0 || version > 8 ? -1 : (((rate * 32 + version) * 8 + mode) << 1) | bass
}

/** Versions up to this one are AC-3 with half or a quarter of the sample rate. */
const MOST_PLAIN_VERSION = 10

/** The same of E-AC-3 (annex E), with its number of blocks. */
function eac3Form(bytes: Buffer, at: number): number {
  const [info, version] = [bytes[at + 4] as number, (bytes[at + 5] as number) >> 3]
  return ((info >> 1) & 7) === 0 || version <= MOST_PLAIN_VERSION ? -1 : info * 32 + version
}

/** Version, checksum, profile, sample rate and channels of AAC; one block in a frame, whose channels are one of the usual sets. */
function adtsForm(bytes: Buffer, at: number): number {
  const isLowComplexity = (bytes[at + 2] as number) >> 6 === 1
  const channels = (bytes.readUInt16BE(at + 2) >> 6) & 7
  const hasOneBlock = ((bytes[at + 6] as number) & 3) === 0
  if (!isLowComplexity || channels === 0 || !hasOneBlock) return -1
  const rate = ((bytes[at + 2] as number) >> 2) & 15
  const versionAndSum = (bytes[at + 1] as number) & 9
  return (versionAndSum << 8) | (rate << 4) | channels
}

/** True if frames of AAC of this form have no checksum behind their header. */
export function isWithoutSum(form: number): boolean {
  return (form & 0x100) !== 0
}

const EAC3_RATE_STEP = 16

/** Bytes of every frame at a constant bit rate; undefined if frames of that coding differ. */
export function constantBytes(
  codec: string,
  bitRate: number | null,
  sampleRate: number,
  samples: number,
): number | undefined {
  if (bitRate === null || codec === 'aac') return undefined
  // ffmpeg counts the bit rate of E-AC-3 in steps of 16, and makes up for the rest with longer frames.
  if (codec === 'eac3' && bitRate % EAC3_RATE_STEP !== 0) return undefined
  // Frames of AC-3 and E-AC-3 consist of words of two bytes.
  const unit = codec === 'mp2' || codec === 'mp3' ? 1 : 2
  const units = (bitRate * samples) / (8 * unit * sampleRate)
  return Number.isInteger(units) ? unit * units : undefined
}
