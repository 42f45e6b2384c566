import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { ASF_HEADER, asfHeadAt } from './asf-head.js'
import type { FfprobeAnswer } from './ffprobe-schema.js'
import type { MovieTrack } from './movie/movie-tracks.js'
import { packetBytesOf, packetHeads } from './transport-clock.js'

/** A header with a great cover is shorter. */
const MOST_HEADER_BYTES = 16 * 1024 * 1024

/**
 * Objects in the header of protected ASF, by their bytes: Content Encryption, the extended and the advanced one. Source:
 * section 3 of the specification.
 */
const ASF_ENCRYPTION = [
  'fbb3112223bdd211b4b700a0c955fc6e',
  '14e68a292226174cb935dae07ee9289c',
  '338505438169e6499b74ad12cb86d58c',
].map((guid) => Buffer.from(guid, 'hex'))

/** Bytes of a transport stream that tell which of its sounds are encrypted. */
const SCANNED_BYTES = 8 * 1024 * 1024

/**
 * Ids of the streams whose packets are encrypted: those of an MP4 that say so, and all of a protected ASF. In a transport
 * stream, these are sounds without a clear packet.
 */
export async function encryptedStreams(
  file: FileHandle,
  movie: readonly MovieTrack[],
  answer: FfprobeAnswer,
): Promise<ReadonlySet<number>> {
  if (answer.format.format_name === 'mpegts') return await encryptedSounds(file, answer)
  const encrypted = movie.filter(({ isEncrypted }) => isEncrypted).map(({ id }) => id)
  return new Set((await isProtectedAsf(file)) ? answer.streams.map(({ id }) => id ?? 0) : encrypted)
}

/** Reads packets only if ffmpeg finds nothing in a sound. */
async function encryptedSounds(file: FileHandle, { streams }: FfprobeAnswer): Promise<ReadonlySet<number>> {
  const silent = streams.filter((stream) => stream.codec_type === 'audio' && stream.sample_rate === 0)
  const [encrypted, clear] = [new Set<number>(), new Set<number>()]
  if (silent.length === 0) return encrypted
  const bytes = await readAt(file, 0, SCANNED_BYTES)
  for (const at of packetHeads(bytes, packetBytesOf(bytes) ?? bytes.length)) {
    const [pid, control] = [bytes.readUInt16BE(at + 1) & 0x1fff, bytes[at + 3] as number]
    if ((control & 0x10) !== 0) (control >> 6 === 0 ? clear : encrypted).add(pid)
  }
  return new Set(silent.map(({ id }) => id ?? 0).filter((pid) => encrypted.has(pid) && !clear.has(pid)))
}

async function isProtectedAsf(file: FileHandle): Promise<boolean> {
  const head = await asfHeadAt(file, 0)
  if (head?.guid !== ASF_HEADER) return false
  const header = await readAt(file, 0, Math.min(head.length, MOST_HEADER_BYTES))
  return ASF_ENCRYPTION.some((guid) => header.includes(guid))
}
