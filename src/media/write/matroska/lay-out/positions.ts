import { readUint } from '../../../probe/matroska/ebml.js'
import { ID } from '../../../probe/matroska/ids.js'
import { childOf, childrenOf, type Element, uintIn } from '../read/element.js'
import { makeUint } from '../read/make-ebml.js'
import { elementsIn, type MatroskaFile } from '../read/matroska-file.js'
import type { BlockPosition } from './cluster-layout.js'
import type { NewMatroskaTrack } from './new-matroska-track.js'
import type { Rewrite } from './rewrite.js'

/** Positions in an output. They count from the first byte in the segment. */
export interface Positions {
  /** New position of a child of the segment, by its old one; undefined if none begins there. */
  readonly partAt: (position: number) => number | undefined
  /** Number of the cluster that began at a position; undefined if none did. */
  readonly clusterAt: (position: number) => number | undefined
  readonly positionOfCluster: (cluster: number) => number
  readonly positionOfOld: (cluster: number, relative: number, ordinal: number) => BlockPosition
  readonly positionOfPacket: (track: NewMatroskaTrack, packet: number) => BlockPosition & { readonly position: number }
}

/** Makes the numbers of `SeekHead` and `Cues` true of an output. */
export class PositionWriter {
  readonly #file: MatroskaFile
  readonly #tracks: readonly NewMatroskaTrack[]
  readonly #positions: Positions
  readonly #into: Rewrite
  /** Bytes of a number; they never become fewer, so that positions settle. */
  readonly #widths = new Map<Element, number>()

  constructor(file: MatroskaFile, tracks: readonly NewMatroskaTrack[], positions: Positions, into: Rewrite) {
    this.#file = file
    this.#tracks = tracks
    this.#positions = positions
    this.#into = into
  }

  write(): void {
    for (const seekHead of elementsIn(this.#file, ID.SeekHead)) this.#writeSeeks(seekHead)
    for (const cues of elementsIn(this.#file, ID.Cues))
      for (const point of childrenOf(cues, ID.CuePoint)) this.#writeCue(point)
  }

  #writeSeeks(seekHead: Element): void {
    for (const seek of childrenOf(seekHead, ID.Seek)) {
      const position = childOf(seek, ID.SeekPosition)
      // A position at which nothing begins never led anywhere.
      const moved = position && this.#positions.partAt(readUint(position.body))
      if (moved !== undefined) this.#set(position, moved)
    }
  }

  #writeCue(point: Element): void {
    const tick = uintIn(point, ID.CueTime) ?? 0
    const shown = childrenOf(point, ID.CueTrackPositions).map((position) => this.#writePosition(position, tick))
    const [first] = shown
    const isOfVoice = first !== undefined && shown.every((at) => at === first)
    if (isOfVoice) this.#set(childOf(point, ID.CueTime), first)
  }

  /** Returns the time of the new packet that a cue leads to; undefined for another track. */
  #writePosition(position: Element, tick: number): number | undefined {
    const cluster = this.#positions.clusterAt(uintIn(position, ID.CueClusterPosition) ?? 0)
    const track = this.#tracks.find(({ voice }) => voice.track.number === uintIn(position, ID.CueTrack))
    if (cluster === undefined) return undefined
    if (!track) {
      const ordinal = uintIn(position, ID.CueBlockNumber) ?? 1
      const old = this.#positions.positionOfOld(cluster, uintIn(position, ID.CueRelativePosition) ?? 0, ordinal)
      this.#setPosition(position, { ...old, position: this.#positions.positionOfCluster(cluster) })
      return undefined
    }
    const packet = track.packetAt(tick)
    this.#setPosition(position, this.#positions.positionOfPacket(track, packet))
    const end = packet + 1 < track.count ? track.tickOf(packet + 1) : track.tickOf(packet)
    this.#set(childOf(position, ID.CueDuration), end - track.tickOf(packet))
    // A cue cannot state a time before zero, at which the first block may lie.
    return Math.max(0, track.tickOf(packet))
  }

  #setPosition(element: Element, at: BlockPosition & { readonly position: number }): void {
    this.#set(childOf(element, ID.CueClusterPosition), at.position)
    this.#set(childOf(element, ID.CueRelativePosition), at.relative)
    this.#set(childOf(element, ID.CueBlockNumber), at.ordinal)
  }

  #set(element: Element | undefined, value: number): void {
    if (!element) return
    const least = this.#widths.get(element) ?? element.body.length
    if (least === element.body.length && readUint(element.body) === value) {
      this.#into.keep(element)
      return
    }
    const made = makeUint(element.id, value, least)
    this.#widths.set(element, made.length - (element.bytes.length - element.body.length))
    this.#into.replace(element, made)
  }
}
