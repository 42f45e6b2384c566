import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { nearReader } from '../near-reader.js'
import { tagBlocks } from './tag-blocks.js'

/** Largest frame that is looked for if STREAMINFO does not state one. */
const USUAL_FRAME_BYTES = 256 * 1024
/** Bytes of unknown kinds may follow the last frame. */
const TAIL_BYTES = 64 * 1024
const HEADER_BYTES = 16
/** A frame of constant 8-bit mono: 6 bytes of header, 2 of subframe and 2 of checksum. */
const SHORTEST_FRAME_BYTES = 10
const SHORT_BLOCKS = [0, 192, 576, 1152, 2304, 4608]

/** Facts of STREAMINFO (RFC 9639, section 8.2). */
interface FlacFacts {
  readonly sampleRate: number
  readonly channels: number
  readonly bitsPerSample: number
  /** 0 if unknown. */
  readonly samples: number
}

/** The facts of a file, and the head of its first frame, part of which every other repeats. */
interface Stated {
  readonly sampleRate: number
  readonly samples: number
  /** 0 if unknown. */
  readonly frameBytes: number
  readonly framesStart: number
  /** End of the frames, without the tags behind them. */
  readonly framesEnd: number
  readonly firstFrame: FrameHead
}

/**
 * Compares the last frame of a FLAC file with the number of samples that STREAMINFO states. A file whose last frame is
 * whole was not cut by a broken transfer, so the number is wrong.
 *
 * @returns seconds that are missing; 0 if no length is stated or no frame is found at the end
 */
export async function missingFlacSec(file: FileHandle, sizeBytes: number): Promise<number> {
  const stated = await readStated(file, sizeBytes)
  if (!stated || stated.samples === 0 || stated.sampleRate === 0) return 0
  const tailBytes = (stated.frameBytes || USUAL_FRAME_BYTES) + TAIL_BYTES
  const from = Math.max(stated.framesStart, stated.framesEnd - tailBytes)
  const tail = await readAt(file, from, stated.framesEnd - from)
  const last = lastFrame(tail, stated.firstFrame)
  if (!last || crc16(tail.subarray(last.at)) === 0) return 0
  return Math.max(0, stated.samples - endSample(last, stated.firstFrame)) / stated.sampleRate
}

/** Reads the facts that begin a FLAC file; undefined for any other file. */
export async function readFlacFacts(file: FileHandle): Promise<FlacFacts | undefined> {
  const head = await readAt(file, 0, 42)
  // The first block is always STREAMINFO, of 34 bytes.
  if (head.length < 42 || head.toString('latin1', 0, 4) !== 'fLaC' || (head.readUInt32BE(4) & 0x7fffffff) !== 34)
    return undefined
  return factsOf(head.subarray(8))
}

function factsOf(info: Buffer): FlacFacts {
  const packed = info.readUInt32BE(10)
  return {
    sampleRate: packed >>> 12,
    channels: ((packed >>> 9) & 7) + 1,
    bitsPerSample: ((packed >>> 4) & 31) + 1,
    samples: (packed & 15) * 2 ** 32 + info.readUInt32BE(14),
  }
}

async function readStated(file: FileHandle, sizeBytes: number): Promise<Stated | undefined> {
  const { soundStart, soundEnd } = await tagBlocks(file, sizeBytes)
  const head = await readAt(file, soundStart, 42)
  if (head.length < 42 || head.toString('latin1', 0, 4) !== 'fLaC') return undefined
  let framesStart = soundStart + 4
  const read = nearReader(file)
  for (let isLast = false; !isLast; ) {
    const block = await read(framesStart, 4)
    if (block.length < 4) return undefined
    isLast = block.readUInt8(0) >= 0x80
    framesStart += 4 + block.readUIntBE(1, 3)
  }
  // A broken block may state more bytes than the file has.
  if (framesStart >= sizeBytes) return undefined
  const info = head.subarray(8)
  const frameBytes = info.readUIntBE(7, 3)
  const firstFrame = firstFrameIn(await readAt(file, framesStart, frameBytes || USUAL_FRAME_BYTES))
  return firstFrame && { ...factsOf(info), frameBytes, framesStart, framesEnd: soundEnd, firstFrame }
}

/** Facts in the header of a frame (RFC 9639, section 9.1). */
interface FrameHead {
  /** Bits that are the same in all frames: the strategy of block sizes, the sample rate and the bit depth. */
  readonly kind: string
  readonly isVariable: boolean
  /** Number of the frame, or of its first sample if the sizes of blocks vary. */
  readonly number: number
  readonly samples: number
}

/** The head of the first whole frame: the first one may be damaged. */
function firstFrameIn(bytes: Buffer): FrameHead | undefined {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const head = frameHeadAt(bytes, at)
    if (head) return head
  }
  return undefined
}

/** The last frame whose header is in these bytes, and its place. */
function lastFrame(bytes: Buffer, first: FrameHead): (FrameHead & { readonly at: number }) | undefined {
  for (let at = bytes.length - SHORTEST_FRAME_BYTES; at >= 0; at--) {
    const head = bytes[at] === 0xff ? frameHeadAt(bytes, at) : undefined
    if (head?.kind === first.kind) return { ...head, at }
  }
  return undefined
}

/** Sample at which a frame ends. STREAMINFO may state another size of blocks than the frames have. */
function endSample({ isVariable, number, samples }: FrameHead, first: FrameHead): number {
  return (isVariable ? number : number * first.samples) + samples
}

/** Reads a frame header; undefined if its code or its checksum is not right. */
function frameHeadAt(bytes: Buffer, at: number): FrameHead | undefined {
  const head = bytes.subarray(at, at + HEADER_BYTES)
  const [, sync = 0, sizes = 0, layout = 0] = head
  if ((sync & 0xfe) !== 0xf8 || layout >> 4 > 10) return undefined
  const coded = codedNumber(head.subarray(4))
  if (!coded) return undefined
  const sizeCode = sizes >> 4
  const sizeAt = 4 + coded.length
  const sizeLength = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0
  const rateCode = sizes & 15
  const rateLength = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0
  const checksumAt = sizeAt + sizeLength + rateLength
  if (checksumAt >= head.length || crc8(head.subarray(0, checksumAt)) !== head[checksumAt]) return undefined
  const long = sizeLength > 0 ? head.readUIntBE(sizeAt, sizeLength) + 1 : 256 << (sizeCode - 8)
  const samples = sizeCode > 5 ? long : (SHORT_BLOCKS[sizeCode] ?? 0)
  const kind = [sync, rateCode, layout & 15].join(' ')
  return { kind, isVariable: sync % 2 === 1, number: coded.value, samples }
}

/** A number of up to 36 bits, coded as UTF-8 codes characters. */
function codedNumber(bytes: Buffer): { readonly value: number; readonly length: number } | undefined {
  const first = bytes[0] ?? 0
  const ones = Math.clz32(~(first << 24))
  if (ones === 0) return { value: first, length: 1 }
  if (ones === 1 || ones > 7 || bytes.length < ones) return undefined
  let value = first & (0x7f >> ones)
  for (const byte of bytes.subarray(1, ones)) {
    if (byte >> 6 !== 2) return undefined
    value = value * 64 + (byte & 63)
  }
  return { value, length: ones }
}

function crc8(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff
  }
  return crc
}

/** Remainder of the bytes of a frame; 0 if the checksum at their end is right. */
function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000) !== 0 ? (crc << 1) ^ 0x8005 : crc << 1) & 0xffff
  }
  return crc
}
