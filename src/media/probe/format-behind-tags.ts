import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { afterId3 } from './id3-length.js'

/** ffmpeg detects a format from as many bytes. */
const DETECTION_BYTES = 1024 * 1024
/** The first version of an AC-3 stream that is E-AC-3 (ATSC A/52, annex E). */
const FIRST_EAC3 = 11

/** Formats of bare frames. ffmpeg tells a short one by its name, which a part file does not have. */
const BARE: ReadonlySet<string> = new Set(['mp3', 'aac', 'ac3', 'eac3', 'flac'])

/** The options with which ffmpeg reads a file that was just written as a container, whatever its name. */
export function formatWrittenAs(container: string): readonly string[] {
  if (container === 'ts' || container === 'm2ts') return TRANSPORT
  return BARE.has(container) ? ['-f', container] : []
}

const TRANSPORT = ['-f', 'mpegts']
/** Packets of a transport stream, and the byte that each begins with. */
const [PACKET_BYTES, SYNC] = [188, 0x47]
/** ffmpeg takes a shorter one for a program stream, whose packets lie in those of the transport stream. */
const FEW_PACKETS = 16

/**
 * The options with which ffmpeg reads a file whose ID3 tags fill most of the bytes that it detects a format from. It
 * would go by the name: a FLAC with a large cover is an MP3 to it under the name of a part. The same holds for a transport
 * stream of a few packets.
 */
export async function formatBehindTags(file: FileHandle, sizeBytes: number): Promise<readonly string[]> {
  if (await isShortTransport(file, sizeBytes)) return TRANSPORT
  const start = await afterId3(file, sizeBytes)
  if (start <= Math.min(sizeBytes, DETECTION_BYTES) / 2) return []
  const format = formatOf(await readAt(file, start, 6))
  return format === null ? [] : ['-f', format]
}

async function isShortTransport(file: FileHandle, sizeBytes: number): Promise<boolean> {
  if (sizeBytes > FEW_PACKETS * PACKET_BYTES || sizeBytes % PACKET_BYTES !== 0) return false
  const bytes = await readAt(file, 0, sizeBytes)
  for (let at = 0; at < sizeBytes; at += PACKET_BYTES) if (bytes[at] !== SYNC) return false
  return true
}

function formatOf(head: Buffer): string | null {
  if (head.length < 6) return null
  if (head.toString('latin1', 0, 4) === 'fLaC') return 'flac'
  const sync = head.readUInt16BE(0)
  if (sync === 0x0b77) return (head[5] ?? 0) >> 3 < FIRST_EAC3 ? 'ac3' : 'eac3'
  if (sync >>> 4 !== 0xfff) return sync >>> 5 === 0x7ff ? 'mp3' : null
  // ADTS has no layer.
  return (sync & 6) === 0 ? 'aac' : 'mp3'
}
