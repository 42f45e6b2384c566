import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { ASF_HEADER, asfHeadAt } from './asf-head.js'
import type { FfprobeAnswer } from './ffprobe-schema.js'
import type { MovieTrack } from './movie/movie-tracks.js'

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

/** Ids of the streams whose packets are encrypted: those of an MP4 that say so, and all of a protected ASF. */
export async function encryptedStreams(
  file: FileHandle,
  movie: readonly MovieTrack[],
  { streams }: FfprobeAnswer,
): Promise<ReadonlySet<number>> {
  const encrypted = movie.filter(({ isEncrypted }) => isEncrypted).map(({ id }) => id)
  return new Set((await isProtectedAsf(file)) ? streams.map(({ id }) => id ?? 0) : encrypted)
}

async function isProtectedAsf(file: FileHandle): Promise<boolean> {
  const head = await asfHeadAt(file, 0)
  if (head?.guid !== ASF_HEADER) return false
  const header = await readAt(file, 0, Math.min(head.length, MOST_HEADER_BYTES))
  return ASF_ENCRYPTION.some((guid) => header.includes(guid))
}
