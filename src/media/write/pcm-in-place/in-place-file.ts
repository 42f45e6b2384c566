import type { FileHandle } from 'node:fs/promises'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import type { ChunkForm } from '../structure/chunks.js'
import { type Checksum, outlineOf } from '../structure/outline.js'
import type { Structure } from '../structure/structure.js'
import { type SamplePlaces, type SampleRun, samplePlaces } from './sample-places.js'
import { type StaleChunk, staleChunks } from './stale-chunks.js'

/** A structure with the audio tracks whose samples it holds. */
export interface HoldingStructure extends Structure {
  readonly holdsSamplesOf: readonly number[]
}

/** A file with PCM tracks: the facts that overwriting needs. */
export interface InPlaceFile {
  readonly structures: readonly HoldingStructure[]
  /** By place among the audio streams. */
  readonly places: ReadonlyMap<number, SamplePlaces>
  readonly stale: readonly StaleChunk[]
  readonly checksums: readonly Checksum[]
  /** Null for a file that does not consist of chunks. */
  readonly chunkForm: ChunkForm | null
}

/** Reads structures and places of samples; null for a container of another family. */
export async function parseInPlace(
  file: FileHandle,
  media: MediaInfo,
  tracks: readonly AudioStreamInfo[],
  signal: AbortSignal | undefined,
): Promise<InPlaceFile | null> {
  const outline = await outlineOf(file, media)
  if (!outline) return null
  const places = new Map<number, SamplePlaces>()
  for (const track of tracks) {
    const found = await samplePlaces(file, media, track, signal)
    places.set(track.audioIndex, isInSound(found, outline.structures) ? found : OUTSIDE)
  }
  const held = [...places].flatMap(([audioIndex, found]) =>
    found.kind === 'found' ? [{ audioIndex, runs: found.runs }] : [],
  )
  const structures = outline.structures.map((structure) => ({
    ...structure,
    holdsSamplesOf: held.filter(({ runs }) => holdsOneOf(structure, runs)).map(({ audioIndex }) => audioIndex),
  }))
  return {
    structures,
    places,
    stale: outline.chunks ? await staleChunks(file, outline.chunks) : [],
    checksums: outline.checksums,
    chunkForm: outline.chunks?.form ?? null,
  }
}

/** Structures that hold samples. A broken file may play others as audio. */
const SOUND = /(^mdat|.*\/data|.*\/SSND|RIFF\/AVIX?\/LIST|RIFF\/AVI\/RIFF|^essence\/\w+|^Segment\/Cluster)$/
const OUTSIDE: SamplePlaces = { kind: 'unknown', reason: 'its samples lie outside the audio data of the file' }

function isInSound(places: SamplePlaces, structures: readonly Structure[]): boolean {
  if (places.kind === 'unknown') return true
  return structures.every((structure) => SOUND.test(structure.path) || !holdsOneOf(structure, places.runs))
}

/** True if a structure holds a byte of one of the runs, which are in file order. */
export function holdsOneOf(
  { start, length }: Pick<Structure, 'start' | 'length'>,
  runs: readonly SampleRun[],
): boolean {
  let low = 0
  let high = runs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const run = runs[middle] as SampleRun
    if (run.start + run.length <= start) low = middle + 1
    else high = middle
  }
  return (runs[low]?.start ?? Number.POSITIVE_INFINITY) < start + length
}
