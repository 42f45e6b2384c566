import type { FileHandle } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { waveChunks } from '../wave-chunks.js'

/** Bytes of the fixed fields of a bext chunk (EBU Tech 3285). */
const BEXT_BYTES = 602

/** Names of these fields in ffprobe. */
const BEXT_TAGS = new Set([
  ...['comment', 'encoded_by', 'originator_reference', 'date', 'creation_time', 'time_reference', 'umid'],
  ...['description', 'originator', 'origination_date', 'origination_time', 'coding_history'],
])

/**
 * Leaves out the tags of a bext chunk that is too short for its fields. ffprobe reads them out of the samples that follow.
 *
 * @param file `media`, open
 */
export async function withoutMisreadTags(media: MediaInfo, file: FileHandle): Promise<MediaInfo> {
  if (media.container !== 'wav' || !Object.keys(media.tags).some(isOfBext)) return media
  const bext = (await waveChunks(file)).find(({ id }) => id === 'bext')
  if (!bext || bext.size >= BEXT_BYTES) return media
  return { ...media, tags: Object.fromEntries(Object.entries(media.tags).filter(([name]) => !isOfBext(name))) }
}

function isOfBext(name: string): boolean {
  return BEXT_TAGS.has(name.toLowerCase())
}
