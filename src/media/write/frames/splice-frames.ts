import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { ADTS_HEAD_BYTES, adtsLength } from '../../probe/adts-length.js'
import { FileWindow } from '../file-window.js'
import type { SpliceableTrack } from '../splice/old-packets.js'
import { packetSamples } from '../splice/same-coding.js'
import { ac3Length, eac3Length } from './dolby-frames.js'
import { splicedInfo, statesInfo } from './mp3-info.js'
import { type FrameRange, HEAD_BYTES, layerThreeLength, WINDOW_BYTES } from './mpeg-frames.js'

/** Frames that follow each other, without anything else. */
export interface FramesDonor {
  readonly sizeBytes: number
  /** The frame before them that describes an MP3, if it is not among them. */
  readonly info: Buffer | null
}

interface FrameKind {
  readonly headBytes: number
  readonly lengthAt: (bytes: Buffer, at: number) => number
}

const KINDS: Readonly<Record<string, FrameKind>> = {
  aac: { headBytes: ADTS_HEAD_BYTES, lengthAt: plainAdtsLength },
  ac3: { headBytes: 0, lengthAt: ac3Length },
  eac3: { headBytes: 0, lengthAt: eac3Length },
  mp3: { headBytes: 0, lengthAt: layerThreeLength },
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
  const { starts, info } = await listFrames(media.path, range, kind)
  if (!starts) return 'other bytes lie between its frames'
  // The frame before an old one may need a higher bit rate, to carry the data of that one.
  if (codec === 'mp3' && !info && isConstant(starts)) return 'no header could state that its bit rate varies'
  const samples = packetSamples({ codec, sampleRate })
  const at = (place: number) => starts[place] as number
  return {
    vorbis: null,
    frameHead: codec === 'aac' ? adtsHead : null,
    isIndexed: true,
    packets: {
      count: starts.length - 1,
      start: at,
      length: (frame) => at(frame + 1) - at(frame),
      headBytes: kind.headBytes,
      startSec: (frame) => (frame * samples) / sampleRate,
    },
    donorOf: (packets) => ({
      sizeBytes: packets.offsetOf(packets.count),
      info: info && splicedInfo(info, packets),
    }),
  }
}

/** Offsets of all frames with sound and of their end, unless something else lies between them. */
async function listFrames(path: string, range: FrameRange, kind: FrameKind) {
  await using file = await open(path, 'r')
  const starts = await frameStarts(file, range, kind)
  const [first, second] = starts ?? []
  if (!starts || first === undefined || second === undefined) return { starts: undefined, info: null }
  const info = await readAt(file, first, second - first)
  return statesInfo(info) ? { starts: starts.slice(1), info } : { starts, info: null }
}

async function frameStarts(file: FileHandle, { start, end }: FrameRange, kind: FrameKind) {
  const starts: number[] = []
  const window = new FileWindow(file, end, WINDOW_BYTES)
  for (let at = start; ; ) {
    starts.push(at)
    if (at === end) return starts
    await window.bring(at)
    const length = at + HEAD_BYTES <= end ? kind.lengthAt(window.window, window.placeOf(at)) : 0
    if (length === 0 || at + length > end) return undefined
    at += length
  }
}

/** True if frames differ by a byte of padding at most. */
function isConstant(starts: readonly number[]): boolean {
  let [least, most] = [Number.POSITIVE_INFINITY, 0]
  for (let frame = 0; frame + 1 < starts.length; frame++) {
    const length = (starts[frame + 1] as number) - (starts[frame] as number)
    least = Math.min(least, length)
    most = Math.max(most, length)
  }
  return most - least <= 1
}

/** Length of a frame of AAC without a checksum, with one block. */
function plainAdtsLength(bytes: Buffer, at: number): number {
  const isPlain = ((bytes[at + 1] ?? 0) & 1) === 1 && ((bytes[at + 6] ?? 1) & 3) === 0
  return isPlain ? adtsLength(bytes, at) : 0
}

/** The header of a frame of the track, with the length of a new one. */
export function adtsHead(sample: Buffer, payloadBytes: number): Buffer {
  const head = Buffer.from(sample.subarray(0, ADTS_HEAD_BYTES))
  const length = payloadBytes + ADTS_HEAD_BYTES
  head.writeUIntBE((head.readUIntBE(3, 3) & ~0x03_ffe0) | (length << 5), 3, 3)
  // A buffer fullness of all ones means a variable rate, which is true of any frame.
  head[5] = (head[5] as number) | 0x1f
  head[6] = 0xfc
  return head
}
