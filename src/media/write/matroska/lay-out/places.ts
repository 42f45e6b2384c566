import { readUint } from '../../../probe/ebml.js'
import { childOf, childrenOf, type Element, uintIn } from '../read/element.js'
import { ID } from '../read/ids.js'
import { makeUint } from '../read/make-ebml.js'
import { elementIn, type MatroskaFile } from '../read/matroska-file.js'
import type { BlockPlace } from './cluster-layout.js'
import type { NewTrack } from './new-track.js'
import type { Rewrite } from './rewrite.js'

/** Places in an output. Positions count from the first byte in the segment. */
export interface Places {
  /** New position of a child of the segment, by its old one; undefined if none begins there. */
  readonly partAt: (position: number) => number | undefined
  /** Place of the cluster that began at a position; undefined if none did. */
  readonly clusterAt: (position: number) => number | undefined
  readonly positionOfCluster: (cluster: number) => number
  readonly placeOfOld: (cluster: number, relative: number, ordinal: number) => BlockPlace
  readonly placeOfPacket: (track: NewTrack, packet: number) => BlockPlace & { readonly position: number }
}

/** Makes the numbers of `SeekHead` and `Cues` true of an output. */
export class PlaceWriter {
  readonly #file: MatroskaFile
  readonly #tracks: readonly NewTrack[]
  /** Bytes of a number; they never become fewer, so that places settle. */
  readonly #widths = new Map<Element, number>()

  constructor(file: MatroskaFile, tracks: readonly NewTrack[]) {
    this.#file = file
    this.#tracks = tracks
  }

  write(places: Places, into: Rewrite): void {
    for (const element of this.#file.parts.map(elementIn)) {
      if (element?.id === ID.SeekHead) this.#writeSeeks(element, places, into)
      if (element?.id === ID.Cues)
        for (const point of childrenOf(element, ID.CuePoint)) this.#writeCue(point, places, into)
    }
  }

  #writeSeeks(seekHead: Element, places: Places, into: Rewrite): void {
    for (const seek of childrenOf(seekHead, ID.Seek)) {
      const position = childOf(seek, ID.SeekPosition)
      // A position at which nothing begins never led anywhere.
      const moved = position && places.partAt(readUint(position.body))
      if (moved !== undefined) this.#set(position, moved, into)
    }
  }

  #writeCue(point: Element, places: Places, into: Rewrite): void {
    const time = childOf(point, ID.CueTime)
    const positions = childrenOf(point, ID.CueTrackPositions)
    const tick = time ? readUint(time.body) : 0
    const shown = positions.map((position) => this.#writePosition(position, tick, places, into))
    const [first] = shown
    const isOfVoice = first !== undefined && shown.every((at) => at === first)
    if (isOfVoice) this.#set(time, first, into)
  }

  /** Returns the time of the new packet that a cue leads to; undefined for another track. */
  #writePosition(position: Element, tick: number, places: Places, into: Rewrite): number | undefined {
    const cluster = places.clusterAt(uintIn(position, ID.CueClusterPosition) ?? 0)
    const track = this.#tracks.find(({ voice }) => voice.track.number === uintIn(position, ID.CueTrack))
    if (cluster === undefined) return undefined
    if (!track) {
      const ordinal = uintIn(position, ID.CueBlockNumber) ?? 1
      const old = places.placeOfOld(cluster, uintIn(position, ID.CueRelativePosition) ?? 0, ordinal)
      this.#setPlace(position, { ...old, position: places.positionOfCluster(cluster) }, into)
      return undefined
    }
    const packet = track.packetAt(tick)
    this.#setPlace(position, places.placeOfPacket(track, packet), into)
    const end = packet + 1 < track.count ? track.tickOf(packet + 1) : track.tickOf(packet)
    this.#set(childOf(position, ID.CueDuration), end - track.tickOf(packet), into)
    // A cue cannot state a time before zero, at which the first block may lie.
    return Math.max(0, track.tickOf(packet))
  }

  #setPlace(position: Element, place: BlockPlace & { readonly position: number }, into: Rewrite): void {
    this.#set(childOf(position, ID.CueClusterPosition), place.position, into)
    this.#set(childOf(position, ID.CueRelativePosition), place.relative, into)
    this.#set(childOf(position, ID.CueBlockNumber), place.ordinal, into)
  }

  #set(element: Element | undefined, value: number, into: Rewrite): void {
    if (!element) return
    const least = this.#widths.get(element) ?? element.body.length
    if (least === element.body.length && readUint(element.body) === value) {
      into.keep(element)
      return
    }
    const made = makeUint(element.id, value, least)
    this.#widths.set(element, made.length - (element.bytes.length - element.body.length))
    into.replace(element, made)
  }
}
