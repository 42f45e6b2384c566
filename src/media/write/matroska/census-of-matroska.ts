import { ID, nameOfId } from '../../probe/matroska/ids.js'
import { type Census, type CensusEntry, kept, rewritten, type StructureFate } from '../census.js'
import { CODING } from './lay-out/new-entry.js'
import { type BlockSlots, slotsOf } from './lay-out/slots.js'
import { staleTags } from './lay-out/stale-tags.js'
import type { Cluster } from './read/cluster.js'
import type { Element } from './read/element.js'
import type { MatroskaFile, TopLevelElement } from './read/matroska-file.js'
import type { VoiceTrack } from './voice-track.js'

/** Fate of an element in a list of tracks or tags. */
interface Fact {
  /** Behind the path, for elements that share theirs with others. */
  readonly name: string
  readonly fate: StructureFate
  readonly reason: string
}

/** Lists the fate of every structure of a file. */
export function censusOfMatroska(file: MatroskaFile, voices: readonly VoiceTrack[]): Census {
  return new ElementCensus(file, voices).entries()
}

class ElementCensus {
  readonly #file: MatroskaFile
  readonly #slots: readonly BlockSlots[]
  readonly #facts: ReadonlyMap<Element, Fact>
  readonly #entries: CensusEntry[] = []

  constructor(file: MatroskaFile, voices: readonly VoiceTrack[]) {
    this.#file = file
    this.#slots = voices.map(({ blocks }) => slotsOf(file, blocks))
    this.#facts = new Map<Element, Fact>([
      ...staleTags(file, voices).map(({ element, name, fate, reason }) => {
        return [element, { name: `:${name}`, fate, reason }] as const
      }),
      ...voices.flatMap(({ track }) => codingOf(track.element)),
    ])
  }

  entries(): Census {
    const { segment, parts, sizeBytes } = this.#file
    // Empty space may follow the head.
    this.#add(kept('EBML', 0, segment.start))
    const { headBytes, length } = segment.head
    this.#add(
      length === null
        ? kept('Segment', segment.start, headBytes)
        : rewritten('Segment', segment.start, headBytes, 'size of its parts'),
    )
    for (const part of parts) this.#addPart(part)
    this.#add(kept('bytes after the segment', segment.end, sizeBytes - segment.end))
    return this.#entries
  }

  #addPart(part: TopLevelElement): void {
    if (part.kind === 'cluster') {
      this.#addCluster(this.#file.clusters[part.cluster] as Cluster, part.cluster)
      return
    }
    const { id, start, end, element } = part
    const path = `Segment/${nameOfId(id)}`
    if (id === ID.SeekHead) this.#add(rewritten(path, start, end - start, 'places of the elements'))
    else if (id === ID.Cues) this.#add(rewritten(path, start, end - start, 'places of the clusters and blocks'))
    else if (element && element.start !== start) this.#add(rewritten(path, start, end - start, 'copy of the first one'))
    else if (element) this.#addElement(element, path)
    else this.#add(kept(path, start, end - start))
  }

  #addElement(element: Element, path: string): void {
    const { start, bytes, body } = element
    const fact = this.#facts.get(element)
    if (fact) {
      const { fate, reason } = fact
      this.#add({ path: `${path}${fact.name}`, fate, reason, start, length: bytes.length })
      return
    }
    if (!this.#hasFacts(element)) {
      this.#add(kept(path, start, bytes.length))
      return
    }
    this.#add(rewritten(path, start, bytes.length - body.length, 'size of its parts'))
    for (const child of element.children) {
      const name = `${path}/${nameOfId(child.id)}`
      if (child.id === ID.Crc32)
        this.#add(rewritten(name, child.start, child.bytes.length, 'checksum of the new bytes'))
      else this.#addElement(child, name)
    }
  }

  #hasFacts(element: Element): boolean {
    return element.children.some((child) => this.#facts.has(child) || this.#hasFacts(child))
  }

  #addCluster(cluster: Cluster, place: number): void {
    const { start, dataStart, end, checksumBytes, position, previousSize, others } = cluster
    const holds = this.#slots.some(({ firstIn }) => firstIn(place) < firstIn(place + 1))
    const numbers = [position, previousSize].flatMap((number) => number ?? [])
    if (!holds && numbers.length === 0) {
      this.#add(kept('Segment/Cluster', start, end - start))
      return
    }
    const why = 'new packets of the sound; every other byte stays'
    this.#add(rewritten('Segment/Cluster', start, dataStart + checksumBytes - start, holds ? why : 'size and place'))
    let at = dataStart + checksumBytes
    const addBlocks = (to: number) => {
      this.#add(holds ? rewritten('Segment/Cluster', at, to - at, why) : kept('Segment/Cluster', at, to - at))
      at = to
    }
    const apart = [
      ...numbers.map((number) => ({ ...number, id: number === position ? ID.Position : ID.PrevSize, isNumber: true })),
      ...others.map((other) => ({ ...other, isNumber: false })),
    ].sort((one, other) => one.start - other.start)
    for (const { id, start: from, length, isNumber } of apart) {
      addBlocks(from)
      const path = `Segment/Cluster/${nameOfId(id)}`
      this.#add(isNumber ? rewritten(path, from, length, 'place of the cluster') : kept(path, from, length))
      at = from + length
    }
    addBlocks(end)
  }

  /** Adds an entry; a run of clusters with one fate is one entry. */
  #add(entry: CensusEntry): void {
    if (entry.length === 0) return
    const last = this.#entries.at(-1)
    const continues = last && last.start + last.length === entry.start && entry.path === 'Segment/Cluster'
    if (continues && last.path === entry.path && last.fate === entry.fate && last.reason === entry.reason) {
      this.#entries[this.#entries.length - 1] = { ...last, length: last.length + entry.length }
    } else this.#entries.push(entry)
  }
}

/** The fields of an entry that state the coding of the old packets. */
function codingOf(entry: Element) {
  const audio = entry.children.filter(({ id }) => id === ID.Audio)
  return [entry, ...audio]
    .flatMap(({ children }) => children)
    .filter(({ id }) => CODING.has(id))
    .map((element) => [element, { name: '', fate: 'rewritten', reason: 'coding of the new sound' }] as const)
}
