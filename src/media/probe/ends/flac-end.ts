import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { afterId3 } from '../id3-length.js'
import { nearReader } from '../near-reader.js'

/** Largest frame that is looked for if STREAMINFO does not state one. */
const USUAL_FRAME_BYTES = 256 * 1024
/** Small tags may follow the last frame. */
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

/** The facts of a file, and the start of its first frame. */
interface Stated {
  readonly sampleRate: number
  readonly samples: number
  readonly blockSamples: number
  readonly frameBytes: number
  readonly framesStart: number
  readonly firstFrame: Buffer
}

/**
 * Compares the last frame of a FLAC file with the number of samples that STREAMINFO states.
 *
 * @returns seconds that are missing; 0 if no length is stated or no frame is found at the end
 */
export async function missingFlacSec(file: FileHandle, sizeBytes: number): Promise<number> {
  const stated = await readStated(file, sizeBytes)
  if (!stated || stated.samples === 0 || stated.sampleRate === 0) return 0
  const tailBytes = (stated.frameBytes || USUAL_FRAME_BYTES) + TAIL_BYTES
  const from = Math.max(stated.framesStart, sizeBytes - tailBytes)
  const endSample = lastEndSample(await readAt(file, from, sizeBytes - from), stated)
  return endSample === undefined ? 0 : Math.max(0, stated.samples - endSample) / stated.sampleRate
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
  const marker = await afterId3(file, sizeBytes)
  const head = await readAt(file, marker, 42)
  if (head.length < 42 || head.toString('latin1', 0, 4) !== 'fLaC') return undefined
  let framesStart = marker + 4
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
  const stated = {
    ...factsOf(info),
    blockSamples: info.readUInt16BE(0),
    frameBytes: info.readUIntBE(7, 3),
    framesStart,
  }
  const frames = await readAt(file, framesStart, stated.frameBytes || USUAL_FRAME_BYTES)
  return { ...stated, firstFrame: firstHead(frames, stated) }
}

/** The head of the first whole frame: the first one may be damaged. */
function firstHead(bytes: Buffer, stated: Omit<Stated, 'firstFrame'>): Buffer {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const firstFrame = bytes.subarray(at, at + HEADER_BYTES)
    const isSync = ((firstFrame[1] ?? 0) & 0xfe) === 0xf8
    if (isSync && endSampleOf(firstFrame, { ...stated, firstFrame }) !== undefined) return firstFrame
  }
  return bytes.subarray(0, HEADER_BYTES)
}

/** Sample at which the last frame ends whose header is in these bytes. */
function lastEndSample(bytes: Buffer, stated: Stated): number | undefined {
  for (let at = bytes.length - SHORTEST_FRAME_BYTES; at >= 0; at--) {
    const end = bytes[at] === 0xff ? endSampleOf(bytes.subarray(at, at + HEADER_BYTES), stated) : undefined
    if (end !== undefined) return end
  }
  return undefined
}

/** Reads a frame header (RFC 9639, section 9.1); undefined if its checksum or what no frame changes is not right. */
function endSampleOf(head: Buffer, { firstFrame, blockSamples }: Stated): number | undefined {
  const [, sync, sizes = 0, layout = 0] = head
  if (sync !== firstFrame[1] || (sizes & 15) !== ((firstFrame[2] ?? 0) & 15)) return undefined
  if ((layout & 15) !== ((firstFrame[3] ?? 0) & 15) || layout >> 4 > 10) return undefined
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
  const isVariable = (sync ?? 0) % 2 === 1
  return (isVariable ? coded.value : coded.value * blockSamples) + samples
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
