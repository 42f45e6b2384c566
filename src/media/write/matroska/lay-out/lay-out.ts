import { ID } from '../../../probe/matroska/ids.js'
import { type BytePiece, type BytePlan, inputPiece, joinRanges, newBytes } from '../../byte-plan.js'
import type { MatroskaDonor } from '../read/donor.js'
import { makeHead } from '../read/make-ebml.js'
import type { MatroskaFile, TopLevelElement } from '../read/matroska-file.js'
import type { VoiceTrack } from '../voice-track.js'
import { blockBytesOf, ClusterLayout } from './cluster-layout.js'
import { type ExtraCluster, extraClusterPieces, extraClusters } from './extra-clusters.js'
import { rewriteEntry } from './new-entry.js'
import { type NewMatroskaTrack, newMatroskaTrack } from './new-matroska-track.js'
import { type Positions, PositionWriter } from './positions.js'
import { Rewrite } from './rewrite.js'
import { replaceStaleTags, staleTags } from './stale-tags.js'

/** Lays out a file in which donors supply the packets of some tracks. @param voices by donor */
export function layOutMatroska(
  file: MatroskaFile,
  voices: readonly VoiceTrack[],
  donors: readonly MatroskaDonor[],
): BytePlan {
  const tracks = voices.map((voice, place) => newMatroskaTrack(file, voice, place, donors[place] as MatroskaDonor))
  const layout = new SegmentLayout(file, tracks)
  layout.settle()
  return { pieces: { [Symbol.iterator]: () => joinRanges(layout.pieces()) } }
}

/** The children of the segment in an output. */
class SegmentLayout {
  readonly #file: MatroskaFile
  readonly #rewrite = new Rewrite()
  readonly #clusters: readonly ClusterLayout[]
  /** By the cluster that they follow. */
  readonly #extras = new Map<number, readonly ExtraCluster[]>()
  readonly #writer: PositionWriter
  readonly #partAt: ReadonlyMap<number, number>
  /** Position of each part, counted from the first byte in the segment. */
  readonly #positions: Float64Array
  /** Part of each cluster. */
  readonly #partOf: Uint32Array
  #length = 0

  constructor(file: MatroskaFile, tracks: readonly NewMatroskaTrack[]) {
    const { clusters, parts, segment, tickNs } = file
    this.#file = file
    this.#writer = new PositionWriter(file, tracks, this.#newPositions(), this.#rewrite)
    this.#positions = new Float64Array(parts.length)
    this.#partOf = new Uint32Array(clusters.length)
    this.#partAt = new Map(parts.map(({ start }, place) => [start - segment.dataStart, place]))
    for (const [place, part] of parts.entries()) if (part.kind === 'cluster') this.#partOf[part.cluster] = place
    this.#clusters = clusters.map((cluster, place) => {
      const before = clusters[place - 1]
      return new ClusterLayout(cluster, place, tracks, {
        position: cluster.position?.value === cluster.start - segment.dataStart,
        previousSize: before !== undefined && cluster.previousSize?.value === before.end - before.start,
      })
    })
    for (const place of clusters.keys()) {
      const extras = extraClusters(tracks, place, tickNs)
      if (extras.length > 0) this.#extras.set(place, extras)
    }
    for (const { voice, donor, codecDelayNs } of tracks) {
      if (donor.encoder !== null) rewriteEntry(voice.track, donor, codecDelayNs, this.#rewrite)
    }
    const voices = tracks.map(({ voice }) => voice)
    replaceStaleTags(staleTags(file, voices), tracks, tickNs, this.#rewrite)
  }

  /** Writes positions until none of them moves any more. A number that needs more bytes moves everything behind it. */
  settle(): void {
    this.#measure()
    for (let length = -1; length !== this.#length; ) {
      length = this.#length
      this.#writer.write()
      this.#stateClusters()
      this.#measure()
    }
  }

  *pieces(): Generator<BytePiece> {
    const { segment, parts, sizeBytes } = this.#file
    const isSame = segment.head.length === null || segment.head.length === this.#length
    yield inputPiece(0, isSame ? segment.dataStart : segment.start)
    if (!isSame) yield newBytes(makeHead(ID.Segment, this.#length, segment.head.sizeWidth))
    for (const part of parts) yield* this.#partPieces(part)
    yield inputPiece(segment.end, sizeBytes)
  }

  *#partPieces(part: TopLevelElement): Generator<BytePiece> {
    if (part.kind === 'cluster') {
      yield* (this.#clusters[part.cluster] as ClusterLayout).pieces()
      for (const extra of this.#extras.get(part.cluster) ?? []) yield* extraClusterPieces(extra)
    } else if (part.element) yield* this.#rewrite.pieces(part.element)
    else yield inputPiece(part.start, part.end)
  }

  #measure(): void {
    let at = 0
    for (const [place, part] of this.#file.parts.entries()) {
      this.#positions[place] = at
      at += this.#lengthOf(part)
    }
    this.#length = at
  }

  #lengthOf(part: TopLevelElement): number {
    if (part.kind === 'element') {
      return part.element ? this.#rewrite.lengthOf(part.element) : part.end - part.start
    }
    // Some clusters have no place in the input.
    const extras = this.#extras.get(part.cluster) ?? []
    return extras.reduce((sum, { length }) => sum + length, (this.#clusters[part.cluster] as ClusterLayout).length)
  }

  #stateClusters(): void {
    for (const [place, cluster] of this.#clusters.entries()) {
      cluster.state(ID.Position, this.#positionOfCluster(place))
      const before = this.#clusters[place - 1]
      const lastExtra = this.#extras.get(place - 1)?.at(-1)
      cluster.state(ID.PrevSize, lastExtra?.length ?? before?.length ?? 0)
    }
  }

  #positionOfCluster(cluster: number): number {
    return this.#positions[this.#partOf[cluster] as number] as number
  }

  #newPositions(): Positions {
    return {
      partAt: (position) => {
        const place = this.#partAt.get(position)
        return place === undefined ? undefined : this.#positions[place]
      },
      clusterAt: (position) => {
        const part = this.#file.parts[this.#partAt.get(position) ?? -1]
        return part?.kind === 'cluster' ? part.cluster : undefined
      },
      positionOfCluster: (cluster) => this.#positionOfCluster(cluster),
      positionOfOld: (cluster, relative, ordinal) =>
        (this.#clusters[cluster] as ClusterLayout).positionOfOld(relative, ordinal),
      positionOfPacket: (track, packet) => this.#positionOfPacket(track, packet),
    }
  }

  #positionOfPacket(track: NewMatroskaTrack, packet: number) {
    const slot = track.slotOf(packet)
    const cluster = track.slots.cluster(slot)
    const position = this.#positionOfCluster(cluster)
    const layout = this.#clusters[cluster] as ClusterLayout
    if (packet < track.endIn(slot)) return { position, ...layout.positionOfNew(track, packet) }
    let at = position + layout.length
    for (const extra of this.#extras.get(cluster) ?? []) {
      if (extra.track === track && packet >= extra.from && packet < extra.to) {
        const relative = extra.time.length + blockBytesOf(track, extra.from, packet)
        return { position: at, relative, ordinal: packet - extra.from + 1 }
      }
      at += extra.length
    }
    throw new RangeError(`Packet ${packet} is in no cluster.`)
  }
}
