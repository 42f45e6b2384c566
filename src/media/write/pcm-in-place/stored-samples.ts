import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { type ByteRange, readAt } from '../../../core/read-at.js'
import { ffprobePackets } from '../../ffmpeg/ffprobe.js'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { klvHead } from '../structure/klv.js'

/** The bytes of the samples of a PCM track in its file, as runs in playing order. */
export type StoredSamples =
  | { readonly kind: 'found'; readonly runs: readonly ByteRange[] }
  | { readonly kind: 'unknown'; readonly reason: string }

interface Packet {
  readonly ptsSec: number | null
  readonly size: number
  readonly pos: number
  readonly hash: number
}

/** Timestamps in ms jitter by one tick. A wider difference is a gap without samples. */
const JITTER_SEC = 0.0012
/** The longest head of a packet that ffprobe's position points to: the key and length of a KLV. */
const LONGEST_HEAD_BYTES = 25

/** Finds the samples of a PCM track by the packets of ffprobe, whose CRC-32 the bytes must match. */
export async function findStoredSamples(
  file: FileHandle,
  media: MediaInfo,
  stream: AudioStreamInfo,
  signal: AbortSignal | undefined,
): Promise<StoredSamples> {
  const packets: Packet[] = []
  let bad: string | undefined
  const entries = 'packet=pts_time,size,pos,flags,data_hash:packet_side_data=side_data_type'
  const take = (line: string) => {
    const packet = packetOf(line)
    if (packet) packets.push(packet)
    else if (line !== '') bad ??= line
  }
  await ffprobePackets(media, stream, ['-show_entries', entries, '-show_data_hash', 'CRC32'], take, signal)
  if (bad !== undefined) return unknown('one of its packets is cut by an edit list, or has no place in the file')
  if (packets.length === 0) return unknown('it has no packets')
  const clock = clockFault(packets, stream)
  if (clock) return unknown(clock)
  const found = await verifiedRuns(file, packets, media.container)
  return found.kind === 'found' ? { ...found, runs: wholeFrames(found.runs, storedFrameBytes(stream)) } : found
}

/** Runs without what lies behind the last whole frame, which no decoder plays. */
function wholeFrames(runs: readonly ByteRange[], frame: number): readonly ByteRange[] {
  const behind = (runs.at(-1)?.length ?? 0) % frame
  const whole = (run: ByteRange, place: number) =>
    place < runs.length - 1 ? run : { ...run, length: run.length - behind }
  return runs.map(whole).filter(({ length }) => length > 0)
}

/** Bytes of a PCM frame: one value of each channel. */
export function storedFrameBytes(stream: Pick<AudioStreamInfo, 'codec' | 'channels'>): number {
  return (sampleBits(stream) / 8) * stream.channels
}

function unknown(reason: string): StoredSamples {
  return { kind: 'unknown', reason }
}

/**
 * `pts_time=0.0|size=4096|pos=44|flags=K__|data_hash=CRC32:0a1b2c3d`, nothing else. Newer versions of ffmpeg call the last
 * packet corrupt (`C`) if it is shorter than the header says.
 */
function packetOf(line: string): Packet | undefined {
  const [, pts, size, pos, hash] =
    /^pts_time=([\d.-]+|N\/A)\|size=(\d+)\|pos=(\d+)\|flags=K[_C]*\|data_hash=CRC32:([0-9a-f]{8})$/.exec(line) ?? []
  if (hash === undefined) return undefined
  return { ptsSec: pts === 'N/A' ? null : Number(pts), size: Number(size), pos: Number(pos), hash: parseInt(hash, 16) }
}

/** Returns the reason why a track's samples are not one run on the file's clock; undefined if they are. */
function clockFault(packets: readonly Packet[], stream: AudioStreamInfo): string | undefined {
  const bytesPerSec = storedFrameBytes(stream) * stream.sampleRate
  const startSec = stream.startSec ?? 0
  let bytes = 0
  for (const { ptsSec, size } of packets) {
    if (ptsSec !== null && Math.abs(ptsSec - startSec - bytes / bytesPerSec) > JITTER_SEC) {
      return `its clock has a gap or overlaps at ${ptsSec} s`
    }
    bytes += size
  }
  return undefined
}

/** Bits of one value in the file, from the name of the codec: `pcm_s24be` has 24, A-law 8. */
export function sampleBits({ codec }: Pick<AudioStreamInfo, 'codec'>): number {
  return Number(/^pcm_[suf](\d+)/.exec(codec ?? '')?.[1] ?? 8)
}

async function verifiedRuns(file: FileHandle, packets: readonly Packet[], container: string): Promise<StoredSamples> {
  const runs: ByteRange[] = []
  for (const { pos, size, hash } of packets) {
    const bytes = await readAt(file, pos, LONGEST_HEAD_BYTES + size)
    const head = headBytes(bytes, container)
    if (head + size > bytes.length || crc32(bytes.subarray(head, head + size)) !== hash) {
      return unknown(`the bytes at ${pos} are not its samples as they are played`)
    }
    const start = pos + head
    const last = runs.at(-1)
    if (last && start < last.start + last.length) return unknown('its samples do not lie in playing order')
    if (last && last.start + last.length === start) runs[runs.length - 1] = { ...last, length: last.length + size }
    else runs.push({ start, length: size })
  }
  return { kind: 'found', runs }
}

/** Bytes between ffprobe's position of a packet and its samples. */
function headBytes(bytes: Buffer, container: string): number {
  switch (container) {
    case 'mxf':
      return klvHead(bytes)
    case 'mkv':
    case 'webm':
      // A Matroska block: its track's number, two bytes of time, one of flags.
      return Math.clz32(bytes[0] ?? 0) - 23 + 3
    default:
      return 0
  }
}
