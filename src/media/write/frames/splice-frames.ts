import { open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import type { SpliceableTrack } from '../splice/old-packets.js'
import { adtsLength, type FrameRange } from './mpeg-frames.js'

const WINDOW_BYTES = 1024 * 1024
/** The longest header from which the length of a frame is read. */
const HEAD_BYTES = 8
const ADTS_HEAD_BYTES = 7

/** Frames that follow each other, without anything else. */
export interface FramesDonor {
  readonly sizeBytes: number
}

interface FrameKind {
  readonly headBytes: number
  readonly samples: number
  readonly lengthAt: (bytes: Buffer, at: number) => number
}

const KINDS: Readonly<Record<string, FrameKind>> = {
  aac: { headBytes: ADTS_HEAD_BYTES, samples: 1024, lengthAt: plainAdtsLength },
  ac3: { headBytes: 0, samples: 1536, lengthAt: ac3Length },
  eac3: { headBytes: 0, samples: 1536, lengthAt: eac3Length },
}

/** Lists the frames of a file, so that some of them can be replaced; or the reason why they cannot. */
export async function spliceableFrames(
  media: MediaInfo,
  codec: string,
  range: FrameRange,
): Promise<SpliceableTrack<FramesDonor> | string> {
  const kind = KINDS[codec]
  const sampleRate = media.streams.find((stream) => stream.kind === 'audio')?.sampleRate
  if (!kind || !sampleRate) return `frames of ${codec} cannot be joined one by one`
  const starts = await frameStarts(media.path, range, kind)
  if (!starts) return 'other bytes lie between its frames'
  const at = (place: number) => starts[place] as number
  return {
    frameHead: codec === 'aac' ? adtsHead : null,
    isIndexed: false,
    packets: {
      count: starts.length - 1,
      start: at,
      length: (frame) => at(frame + 1) - at(frame),
      headBytes: kind.headBytes,
      startSec: (frame) => (frame * kind.samples) / sampleRate,
    },
    donorOf: ({ count, offsetOf }) => ({ sizeBytes: offsetOf(count) }),
  }
}

/** Offsets of all frames and of their end; undefined if something else lies between them. */
async function frameStarts(path: string, { start, end }: FrameRange, kind: FrameKind) {
  const file = await open(path, 'r')
  try {
    const starts: number[] = []
    let window: Buffer = Buffer.alloc(0)
    let windowStart = start
    for (let at = start; ; ) {
      starts.push(at)
      if (at === end) return starts
      if (at + HEAD_BYTES > windowStart + window.length) {
        window = await readAt(file, at, Math.min(WINDOW_BYTES, end - at))
        windowStart = at
      }
      const length = at + HEAD_BYTES <= windowStart + window.length ? kind.lengthAt(window, at - windowStart) : 0
      if (length === 0 || at + length > end) return undefined
      at += length
    }
  } finally {
    await file.close()
  }
}

/** Length of a frame of AAC without a checksum, with one block. */
function plainAdtsLength(bytes: Buffer, at: number): number {
  const isPlain = ((bytes[at + 1] ?? 0) & 1) === 1 && ((bytes[at + 6] ?? 1) & 3) === 0
  return isPlain ? adtsLength(bytes, at) : 0
}

/** The header of a frame of the track, with the length of a new one. */
function adtsHead(sample: Buffer, payloadBytes: number): Buffer {
  const head = Buffer.from(sample.subarray(0, ADTS_HEAD_BYTES))
  const length = payloadBytes + ADTS_HEAD_BYTES
  head.writeUIntBE((head.readUIntBE(3, 3) & ~0x03_ffe0) | (length << 5), 3, 3)
  // A buffer fullness of all ones means a variable rate, which is true of any frame.
  head[5] = (head[5] as number) | 0x1f
  head[6] = 0xfc
  return head
}

const AC3_KBIT = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]

/** Length of an AC-3 frame from its header (ATSC A/52, table 5.18); 0 if there is none. */
function ac3Length(bytes: Buffer, at: number): number {
  if (bytes.readUInt16BE(at) !== 0x0b77) return 0
  const [rate, code] = [(bytes[at + 4] ?? 0) >> 6, (bytes[at + 4] ?? 0) & 63]
  const kbit = AC3_KBIT[code >> 1]
  if (kbit === undefined || rate > 2) return 0
  if (rate === 1) return 2 * (Math.floor((320 * kbit) / 147) + (code & 1))
  return kbit * (rate === 0 ? 4 : 6)
}

/** Length of an E-AC-3 frame of six blocks that stands alone, from its header; 0 if there is none. */
function eac3Length(bytes: Buffer, at: number): number {
  if (bytes.readUInt16BE(at) !== 0x0b77) return 0
  const isAlone = (bytes[at + 2] ?? 0) >> 3 === 0
  const hasSixBlocks = (((bytes[at + 4] ?? 0) >> 4) & 3) === 3
  return isAlone && hasSixBlocks ? 2 * ((bytes.readUInt16BE(at + 2) & 0x7ff) + 1) : 0
}
