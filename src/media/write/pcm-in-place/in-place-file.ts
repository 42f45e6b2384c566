import type { FileHandle } from 'node:fs/promises'
import type { ByteRange } from '../../../core/read-at.js'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { firstAtLeast } from '../first-at-least.js'
import type { ChunkForm } from '../structure/chunks.js'
import { type Checksum, outlineOf } from '../structure/outline.js'
import type { Structure } from '../structure/structure.js'
import { type StaleChunk, staleChunks } from './stale-chunks.js'
import { findStoredSamples, type StoredSamples } from './stored-samples.js'

/** A file with PCM tracks: the facts that overwriting needs. */
export interface InPlaceFile {
  readonly structures: Iterable<Structure>
  /** By place among the audio streams. */
  readonly samples: ReadonlyMap<number, StoredSamples>
  readonly stale: readonly StaleChunk[]
  readonly checksums: readonly Checksum[]
  /** Null for a file that does not consist of chunks. */
  readonly chunkForm: ChunkForm | null
}

/** Reads structures and finds samples; null for a container of another family, a text for a reason to leave it. */
export async function parseInPlace(
  file: FileHandle,
  media: MediaInfo,
  tracks: readonly AudioStreamInfo[],
  signal: AbortSignal | undefined,
): Promise<InPlaceFile | string | null> {
  const outline = await outlineOf(file, media)
  if (!outline) return null
  if (outline.chunks?.isRifx && outline.chunks.chunks.some(({ id }) => id === 'bext')) {
    return 'the high byte of the loudness in its chunk bext comes first (RIFX)'
  }
  const samples = new Map<number, StoredSamples>()
  for (const track of tracks) {
    const found = await findStoredSamples(file, media, track, signal)
    samples.set(track.audioIndex, isInSound(found, outline.structures) ? found : OUTSIDE)
  }
  return {
    structures: outline.structures,
    samples,
    stale: outline.chunks ? await staleChunks(file, outline.chunks) : [],
    checksums: outline.checksums,
    chunkForm: outline.chunks?.form ?? null,
  }
}

/** Structures that hold samples. A broken file may play others as audio. */
const SOUND = /(^mdat|.*\/data|.*\/SSND|RIFF\/AVIX?\/LIST|RIFF\/AVI\/RIFF|^essence\/\w+|^Segment\/Cluster)$/
const OUTSIDE: StoredSamples = { kind: 'unknown', reason: 'its samples lie outside the audio data of the file' }

function isInSound(samples: StoredSamples, structures: Iterable<Structure>): boolean {
  if (samples.kind === 'unknown') return true
  for (const structure of structures) {
    if (holdsOneOf(structure, samples.runs) && !SOUND.test(structure.path)) return false
  }
  return true
}

/** True if a structure holds a byte of one of the runs, which are in file order. */
export function holdsOneOf(
  { start, length }: Pick<Structure, 'start' | 'length'>,
  runs: readonly ByteRange[],
): boolean {
  const end = (place: number) => (runs[place]?.start ?? 0) + (runs[place]?.length ?? 0)
  const next = runs[firstAtLeast(runs.length, end, start + 1)]
  return next !== undefined && next.start < start + length
}
