import type { FileHandle } from 'node:fs/promises'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { type ChunkFile, type ChunkForm, chunkFile, chunkStructures } from '../structure/chunks.js'
import { ebmlElements } from '../structure/ebml.js'
import { isoBoxes } from '../structure/iso-boxes.js'
import { klvs } from '../structure/klv.js'
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
  /** Offsets of checksums over samples; they become empty elements. */
  readonly voids: readonly number[]
  /** Null for a file that does not consist of chunks. */
  readonly chunkForm: ChunkForm | null
}

interface Outline {
  readonly structures: readonly Structure[]
  readonly chunks: ChunkFile | null
  readonly voids: readonly number[]
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
    places.set(track.audioIndex, liesInSound(found, outline.structures) ? found : OUTSIDE)
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
    voids: outline.voids,
    chunkForm: outline.chunks?.form ?? null,
  }
}

async function outlineOf(file: FileHandle, media: MediaInfo): Promise<Outline | null> {
  const plain = (structures: readonly Structure[] | undefined) =>
    structures ? { structures, chunks: null, voids: [] } : null
  switch (media.container) {
    case 'mp4':
    case 'mov':
    case 'm4a':
    case 'm4v':
    case '3gp':
    case '3g2':
      return plain(await isoBoxes(file, media.sizeBytes))
    case 'mxf':
      return plain(await klvs(file, media.sizeBytes))
    case 'mkv': {
      const elements = await ebmlElements(file, media.sizeBytes)
      return elements ? { structures: elements.structures, chunks: null, voids: elements.clusterChecksums } : null
    }
    case 'avi':
    case 'wav':
    case 'w64':
    case 'aiff':
    case 'caf': {
      const chunks = await chunkFile(file, media.sizeBytes)
      return chunks ? { structures: chunkStructures(chunks), chunks, voids: [] } : null
    }
    default:
      return null
  }
}

/** Structures that hold samples. A broken file may play others as audio. */
const SOUND = /(^mdat|.*\/data|.*\/SSND|RIFF\/AVIX?\/LIST|RIFF\/AVI\/RIFF|^essence\/\w+|^Segment\/Cluster)$/
const OUTSIDE: SamplePlaces = { kind: 'unknown', reason: 'its samples lie outside the audio data of the file' }

function liesInSound(places: SamplePlaces, structures: readonly Structure[]): boolean {
  if (places.kind === 'unknown') return true
  return structures.every((structure) => SOUND.test(structure.path) || !holdsOneOf(structure, places.runs))
}

/** True if a structure holds a byte of one of the runs, which are in file order. */
function holdsOneOf({ start, length }: Structure, runs: readonly SampleRun[]): boolean {
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
