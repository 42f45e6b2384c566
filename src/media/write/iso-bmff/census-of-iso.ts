import { type Box, childAt, endOf } from '../../probe/movie/box.js'
import { trackIdOf } from '../../probe/movie/fragment-facts.js'
import { type Census, type CensusEntry, kept, lost, rewritten } from '../census.js'
import { firstAtLeast } from '../first-at-least.js'
import { RunsInFileOrder } from '../runs-in-file-order.js'
import { isSmoothTime } from './lay-out/smooth-times.js'
import { isKeyFact } from './lay-out/track-facts.js'
import { type OldFact, oldFacts } from './old-facts.js'
import { nameOf } from './read/gapless-info.js'
import { type IsoFile, newDuration } from './read/iso-file.js'
import type { OldTrack } from './read/voice-runs.js'

/** New boxes of a replaced track, with reasons. */
const NEW_BOXES: Readonly<Record<string, string>> = {
  ...{ tkhd: 'duration of the new sound', mdhd: 'duration of the new sound', elst: 'priming of the new sound' },
  ...{ stsd: 'coding of the new sound', stts: 'durations of the new packets', ctts: 'packets are shown as they come' },
  ...{ stsz: 'sizes of the new packets', stz2: 'sizes of the new packets', stsc: 'chunks of the new packets' },
  ...{ stco: 'places of the new packets', co64: 'places of the new packets', stss: 'every new packet is a start' },
  ...{
    sdtp: 'one row for each new packet',
    stdp: 'one row for each new packet',
    cslg: 'packets are shown as they come',
  },
  ...{ sgpd: 'packets that a decoder needs ahead', sbgp: 'packets that a decoder needs ahead' },
  ...{ stps: 'every new packet is a start', stsh: 'every new packet is a start' },
  ...{ padb: 'states bits of the old packets', subs: 'states parts of the old packets' },
  ...{ tfhd: 'defaults of the new packets', tfdt: 'time of the new packets', trun: 'the new packets' },
}

function newBoxReason(box: Box): string | undefined {
  if (isSmoothTime(box)) return NEW_BOXES.tfdt
  return isKeyFact(box) ? 'states the encryption of the old packets' : NEW_BOXES[box.type]
}

/** Boxes that state places in the file. */
const PLACES: ReadonlySet<string> = new Set(['stco', 'co64', 'saio', 'iloc', 'tfra', 'sidx', 'tfhd', 'trun'])

/** Lists the fate of every box of a file. @param voices places of the replaced tracks in the movie */
export function censusOfIso(file: IsoFile, voices: readonly number[]): Census {
  const census = new BoxCensus(file, voices)
  return { [Symbol.iterator]: () => census.entries() }
}

class BoxCensus {
  readonly #file: IsoFile
  readonly #facts: ReadonlyMap<Box, OldFact>
  readonly #own = new Set<Box>()
  readonly #ids: ReadonlySet<number>
  readonly #voices: RunsInFileOrder
  readonly #isRetimed: boolean

  constructor(file: IsoFile, voices: readonly number[]) {
    this.#file = file
    this.#isRetimed = newDuration(file, voices) !== null
    this.#facts = new Map(oldFacts(file, voices).map((fact) => [fact.box, fact]))
    const old = voices.flatMap((voice) => file.oldTracks.get(voice) ?? [])
    for (const track of old) this.#addOwn(track)
    this.#ids = new Set(old.map(({ track }) => track.id))
    this.#voices = new RunsInFileOrder(old.map(({ runs }) => runs))
  }

  *entries(): Generator<CensusEntry> {
    const { boxes, boxesEnd, sizeBytes } = this.#file.structure
    for (const box of boxes) yield* this.#entriesOf(box, box.type)
    const rest = sizeBytes - boxesEnd
    if (rest > 0) yield kept('bytes after the last box', boxesEnd, rest)
  }

  #addOwn({ track }: OldTrack): void {
    const parents = [track.box, childAt(track.box, 'edts'), childAt(track.box, 'mdia'), track.stbl]
    for (const child of parents.flatMap((parent) => parent?.children ?? [])) this.#own.add(child)
  }

  #entriesOf(box: Box, path: string, isOfVoice = false): readonly CensusEntry[] {
    const { start, length } = box
    const fact = this.#facts.get(box)
    const name = nameOf(box)
    const named = name === '' ? path : `${path}:${name}`
    if (fact?.fate === 'lost') return [lost(named, start, length, fact.reason)]
    if (fact) return [rewritten(named, start, length, fact.reason)]
    if (box.type === 'mvhd' && this.#isRetimed) return [rewritten(path, start, length, 'duration of the sound')]
    const reason = isOfVoice || this.#own.has(box) ? newBoxReason(box) : undefined
    if (reason !== undefined) return [rewritten(path, start, length, reason)]
    if (PLACES.has(box.type) || path === 'moov/gps ') return [rewritten(path, start, length, 'places in the file')]
    if (box.type === 'mdat') return [this.#dataEntry(box, path)]
    if (box.children.length === 0) return [kept(path, start, length)]
    return this.#familyOf(box, path)
  }

  /** A box with children: counts its header and the bytes after the last child. */
  #familyOf(box: Box, path: string): readonly CensusEntry[] {
    const { children } = box
    const isOfVoice = box.type === 'traf' && this.#ids.has(trackIdOf(box) ?? 0)
    const parts = children.flatMap((child) => this.#entriesOf(child, `${path}/${child.type}`, isOfVoice))
    const first = (children[0] as Box).start
    const end = endOf(children.at(-1) as Box)
    const isSame = parts.every(({ fate }) => fate === 'kept')
    const header = isSame
      ? kept(path, box.start, first - box.start)
      : rewritten(path, box.start, first - box.start, 'size of its parts')
    const rest = endOf(box) - end
    return [header, ...parts, ...(rest > 0 ? [kept(`${path}/rest`, end, rest)] : [])]
  }

  #dataEntry(box: Box, path: string): CensusEntry {
    const first = firstAtLeast(this.#voices.count, this.#voices.start, box.start)
    if (first === this.#voices.count || this.#voices.start(first) >= endOf(box))
      return kept(path, box.start, box.length)
    return rewritten(path, box.start, box.length, 'new packets of the sound; every other byte stays')
  }
}
