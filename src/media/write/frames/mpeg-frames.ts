import type { FileHandle } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { readAt } from '../../../core/read-at.js'
import { id3Length } from '../../probe/id3-length.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { withGaps } from '../census.js'
import { FileWindow } from '../file-window.js'
import { MAX_STRUCTURES, type Structure } from '../structure/structure.js'

/** The range from the first frame to the end of the last. */
export interface FrameRange {
  readonly start: number
  readonly end: number
}

/** Frames among other bytes. */
export interface FoundFrames extends FrameRange {
  /** Tags and other bytes between the frames, in file order. */
  readonly between: readonly Structure[]
}

/** The longest header from which the length of a frame is read. */
export const HEAD_BYTES = 8
/** Bytes that are read at once: all frames of a file are looked at. */
export const WINDOW_BYTES = 1024 * 1024
const KBIT_V1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
/** Bit rates of MPEG-1 layer II by their number in the header of a frame. */
export const KBIT_LAYER_2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0]
const KBIT_V2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
const RATES = [44_100, 48_000, 32_000, 0]

/** Finds the start and end of the frames of MPEG layer III or ADTS among other bytes; undefined without any. @throws {MalformedFile}, {InterruptedError} */
export async function mpegFrames(
  file: FileHandle,
  range: FrameRange,
  frameLength: (head: Buffer, at: number) => number,
  signal?: AbortSignal,
): Promise<FoundFrames | undefined> {
  let first: number | undefined
  let last = range.start
  const between: Structure[] = []
  let tags: Structure[] = []
  const window = new FileWindow(file, range.end, WINDOW_BYTES)
  for (let at = range.start; at + HEAD_BYTES <= range.end; ) {
    // Waits only if it has to: other bytes are looked at one by one.
    const loading = window.bring(at)
    if (loading) {
      throwIfAborted(signal)
      await loading
    }
    if (window.peek(at, HEAD_BYTES).length < HEAD_BYTES) break
    const length = frameLength(window.window, window.placeOf(at))
    // A frame counts if another one or the end of the audio follows it.
    if (length > 0 && at + length <= range.end && (first !== undefined || (await isFollowed(at + length)))) {
      // There can be more tags than a call takes arguments.
      if (first !== undefined && at > last)
        for (const other of withGaps(tags, [last, at], otherBytes)) between.push(other)
      first ??= at
      at += length
      last = at
      tags = []
      continue
    }
    const tagLength = first === undefined ? 0 : (id3Length(window.peek(at, 10), 'ID3') ?? 0)
    if (tagLength > 0 && at + tagLength <= range.end) {
      if (tags.length >= MAX_STRUCTURES)
        throw new MalformedFile(`very many tags stand between its frames at byte ${at}`)
      tags.push({ path: 'ID3v2 between the frames', start: at, length: tagLength })
      at += tagLength
    } else at += 1
  }
  return first === undefined ? undefined : { start: first, end: last, between }

  async function isFollowed(at: number) {
    return at + HEAD_BYTES > range.end || frameLength(await readAt(file, at, HEAD_BYTES), 0) > 0
  }
}

function otherBytes(start: number, length: number): Structure {
  return { path: 'bytes between the frames', start, length }
}

/** Length in bytes of an MPEG-1 or MPEG-2 layer III frame from its header; 0 if there is none. */
export function layerThreeLength(bytes: Buffer, at: number): number {
  const { version, layer, rate, index, padding } = headAt(bytes, at)
  const kbit = (version === 3 ? KBIT_V1 : KBIT_V2)[index] ?? 0
  if (layer !== 1 || version === 1 || kbit === 0 || rate === 0) return 0
  return Math.floor(((version === 3 ? 144 : 72) * 1000 * kbit) / rate) + padding
}

/** The same for layer II. */
export function layerTwoLength(bytes: Buffer, at: number): number {
  const { version, layer, rate, index, padding } = headAt(bytes, at)
  const kbit = (version === 3 ? KBIT_LAYER_2 : KBIT_V2)[index] ?? 0
  if (layer !== 2 || version === 1 || kbit === 0 || rate === 0) return 0
  return Math.floor((144 * 1000 * kbit) / rate) + padding
}

function headAt(bytes: Buffer, at: number) {
  const head = at + 4 <= bytes.length ? bytes.readUInt32BE(at) : 0
  const version = (head >>> 19) & 3
  return {
    version,
    // Without the bits of a frame's start, it has no layer.
    layer: head >>> 21 === 0x7ff ? (head >>> 17) & 3 : 0,
    rate: (RATES[(head >>> 10) & 3] ?? 0) >> (version === 3 ? 0 : version === 2 ? 1 : 2),
    index: (head >>> 12) & 15,
    padding: (head >>> 9) & 1,
  }
}
