import type { PacketRange } from '../deal-packets.js'
import type { AviFile, AviPart } from './avi-file.js'
import { indexBase, indexBytes, newIndex, placesIn } from './avi-index.js'
import { soundId } from './movie-data.js'
import type { NewAviSound, NewBodies } from './movie-layout.js'
import {
  type ChunkEntry,
  chunkEntries,
  filledIndex,
  indexLength,
  type ListedIndex,
  listedIndices,
  movedIndex,
  type OpenDmlIndex,
} from './open-dml-index.js'
import { unitsOf } from './stream-header.js'

interface Places {
  /** Offset of a byte of the input; undefined if it is not in the output. */
  readonly mapped: (inputOffset: number) => number | undefined
  /** Offsets of the heads of new packets, by donor. */
  readonly starts: readonly Float64Array[]
  /** New size of a list (`rec `) or an index. */
  readonly headBytes: (inputOffset: number) => number | undefined
}

/** The indices of an AVI, old and new form, with the places of new packets. */
export class NewIndices {
  readonly #avi: AviFile
  readonly #sounds: readonly NewAviSound[]
  readonly #places: ReadonlyMap<string, number>
  readonly #byStart: ReadonlyMap<number, OpenDmlIndex>
  /** New packets that an index of OpenDML lists, by its start. Absent for a stream that stays. */
  readonly #packets: ReadonlyMap<number, PacketRange>
  /** Bytes that the indices of OpenDML need more, by their start. */
  readonly growths: ReadonlyMap<number, number>

  constructor(avi: AviFile, sounds: readonly NewAviSound[]) {
    this.#avi = avi
    this.#sounds = sounds
    this.#places = new Map(sounds.map(({ number }, place) => [soundId(number), place]))
    this.#byStart = new Map(avi.indices.map((index) => [index.start, index]))
    this.#packets = this.#packetsOfIndices()
    this.growths = new Map(
      avi.indices.map((index) => [index.start, this.#lengthOf(index) - index.body.length] as const),
    )
  }

  /** Zeros in the place of all indices. */
  emptyBodies(): NewBodies {
    return this.#bodiesOf(
      (part) => Buffer.alloc(this.#oldFormLength(part)),
      (index) => Buffer.alloc(this.#lengthOf(index)),
    )
  }

  bodies(places: Places): NewBodies {
    return this.#bodiesOf(
      (part) => this.#oldForm(part, places),
      (index) => this.#body(index, places),
    )
  }

  #bodiesOf(oldForm: (part: AviPart) => Buffer, body: (index: OpenDmlIndex) => Buffer): NewBodies {
    const { parts, indices } = this.#avi
    const old = parts.flatMap((part) => (part.index ? [[part.index.chunk.start, oldForm(part)] as const] : []))
    return new Map([...old, ...indices.map((index) => [index.start, body(index)] as const)])
  }

  #oldFormLength(part: AviPart): number {
    const added = this.#sounds.reduce((sum, sound) => {
      const old = placesIn(part, sound)
      const made = dealt(sound, old)
      return sum + made.to - made.from - (old.to - old.from)
    }, 0)
    return indexBytes(part, added)
  }

  #oldForm(part: AviPart, { mapped, starts, headBytes }: Places): Buffer {
    const soundOf = (id: string) => this.#sounds[this.#places.get(id) ?? -1]
    return newIndex(part, indexBase(part, this.#sounds) ?? 0, this.#oldFormLength(part), {
      mapped: (offset) => mapped(offset) ?? 0,
      packetsAt: (id, place) => soundOf(id)?.deals.at(place),
      packet: (id, packet) => ({
        start: starts[this.#places.get(id) ?? -1]?.[packet] ?? 0,
        bytes: soundOf(id)?.donor.packets.bytes(packet) ?? 0,
      }),
      firstPlace: (id) => {
        const sound = soundOf(id)
        return sound ? placesIn(part, sound).from : 0
      },
      headBytes,
    })
  }

  #body(index: OpenDmlIndex, { mapped, starts }: Places): Buffer {
    if (index.kind === 'indices') {
      return listedIndices(index, (start): ListedIndex => {
        const growth = this.growths.get(start) ?? 0
        return { start: mapped(start) ?? 0, growth, units: this.#unitsIn(start) }
      })
    }
    const base = mapped(index.base) ?? this.#startOfMedia(index, mapped)
    const [sound, range] = [this.#places.get(index.id), this.#packets.get(index.start)]
    if (sound === undefined || !range) return movedIndex(index, base, (offset) => mapped(offset) ?? 0)
    const { donor } = this.#sounds[sound] as NewAviSound
    const packets = Array.from({ length: range.to - range.from }, (_, row): ChunkEntry => {
      const packet = range.from + row
      return { start: starts[sound]?.[packet] ?? 0, bytes: donor.packets.bytes(packet) }
    })
    return filledIndex(index, base, packets)
  }

  /** The place from which an index counts if it counted from a packet that is gone. */
  #startOfMedia(index: OpenDmlIndex, mapped: Places['mapped']): number {
    const [first] = chunkEntries(index)
    const part = this.#avi.parts.findLast(({ movi }) => movi.start <= (first?.start ?? 0))
    return mapped(part?.movi.start ?? 0) ?? 0
  }

  #lengthOf(index: OpenDmlIndex): number {
    const range = this.#packets.get(index.start)
    return range ? indexLength(index, range.to - range.from) : index.body.length
  }

  #unitsIn(start: number): number | null {
    const range = this.#packets.get(start)
    const sound = this.#sounds[this.#places.get(this.#byStart.get(start)?.id ?? '') ?? -1]
    if (!range || !sound) return null
    const { stream, packets } = sound.donor
    let bytes = 0
    for (let packet = range.from; packet < range.to; packet++) bytes += packets.bytes(packet)
    return unitsOf(stream.clock, { count: range.to - range.from, bytes })
  }

  #packetsOfIndices(): ReadonlyMap<number, PacketRange> {
    const next = this.#sounds.map(() => 0)
    const ranges = new Map<number, PacketRange>()
    for (const { kind, id, start, count } of this.#avi.indices) {
      const place = this.#places.get(id)
      if (kind !== 'chunks' || place === undefined) continue
      const from = next[place] as number
      next[place] = from + count
      ranges.set(start, dealt(this.#sounds[place] as NewAviSound, { from, to: from + count }))
    }
    return ranges
  }
}

/** The new packets in some places of old ones. */
function dealt({ deals }: NewAviSound, { from, to }: PacketRange): PacketRange {
  const first = deals.at(from).from
  return { from: first, to: from === to ? first : deals.at(to - 1).to }
}
