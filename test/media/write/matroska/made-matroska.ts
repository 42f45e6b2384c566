import { EBML, element, idBytes, marked, size, sumOf, text, uint } from './made-elements.js'
import type { MadeBlock, MadeMatroska } from './made-shape.js'

/** Makes the file. Its blocks of track 1 are the ones to replace. */
export function matroskaFile(made: MadeMatroska): Buffer {
  return new FileMaker(made).bytes()
}

/** Several packets in a block, by how their sizes are stated (RFC 9559, 10.3): their number less one, and all sizes but the last. */
const LACES: Readonly<Record<string, (last: Buffer) => Lace>> = {
  xiph: (last) => ({ flags: 2, sizes: [1, 1], packets: [marked(1, 2), last] }),
  // The second size is a difference of 2.
  ebml: (last) => ({ flags: 6, sizes: [2, 0x81, 0xc1], packets: [marked(1, 2), marked(3, 4), last] }),
  fixed: (last) => ({ flags: 4, sizes: [1], packets: [marked(last.length, 2), last] }),
}

interface Lace {
  readonly flags: number
  readonly sizes: readonly number[]
  readonly packets: readonly Buffer[]
}

interface Placed {
  readonly track: number
  readonly time: number
  readonly relative: number
  readonly number: number
}

class FileMaker {
  readonly #made: MadeMatroska
  #next = 0

  constructor(made: MadeMatroska) {
    this.#made = made
  }

  bytes(): Buffer {
    const { openSegment } = this.#made
    // Positions depend on the sizes of what precedes them: laid out until they no longer move.
    let body = this.#body([])
    for (let tries = 0; tries < 8; tries++) {
      const again = this.#body(body.parts)
      if (Buffer.concat(again.parts).equals(Buffer.concat(body.parts))) break
      body = again
    }
    const all = Buffer.concat(body.parts)
    const head = openSegment
      ? Buffer.from('1853806701ffffffffffffff', 'hex')
      : Buffer.concat([idBytes(0x18538067), size(all.length, 5)])
    return Buffer.concat([EBML, head, all])
  }

  /** The children of the segment; places are those of an earlier turn. */
  #body(before: readonly Buffer[]): { readonly parts: readonly Buffer[] } {
    this.#next = 0
    const { cues, seeks, tags, unknown } = this.#made
    const names = [
      ...(seeks > 0 ? ['seek'] : []),
      ...['info', 'void', 'tracks'],
      ...(cues === 'first' ? ['cues'] : []),
      ...(unknown.includes('segment') ? ['unknown'] : []),
      ...this.#clusterList().map((_, place) => `cluster ${place}`),
      ...(cues === 'last' ? ['cues'] : []),
      ...['attachments', ...(tags ? ['tags'] : []), ...(seeks > 1 ? ['seek again'] : [])],
    ]
    const starts = new Map<string, number>()
    let at = 0
    for (const [place, name] of names.entries()) {
      starts.set(name, at)
      at += before[place]?.length ?? 0
    }
    const lengths = new Map(names.map((name, place) => [name, before[place]?.length ?? 0]))
    const clusters = this.#clusters(starts, lengths)
    return { parts: names.map((name) => this.#part(name, starts, clusters)) }
  }

  #part(name: string, starts: ReadonlyMap<string, number>, clusters: readonly MadeCluster[]): Buffer {
    const { tickNs, unknown } = this.#made
    switch (name) {
      case 'info':
        return this.#summed(0x1549a966, uint(0x2ad7b1, tickNs, 4), text(0x4d80, 'made by a test'))
      case 'void':
        return element(0xec, 3, marked(50, 5))
      case 'tracks':
        return this.#tracks()
      case 'cues':
        return this.#cues(starts, clusters)
      case 'unknown':
        return this.#strange(40)
      case 'attachments':
        return element(0x1941a469, 4, marked(99, 8))
      case 'tags':
        return this.#tags()
      case 'seek':
      case 'seek again': {
        const ids: readonly (readonly [string, number])[] = [
          ...([
            ['info', 0x1549a966],
            ['tracks', 0x1654ae6b],
            ['cues', 0x1c53bb6b],
            ['tags', 0x1254c367],
          ] as const),
          ...([
            ['attachments', 0x1941a469],
            ['cluster 1', 0x1f43b675],
            ['seek again', 0x114d9b74],
          ] as const),
        ]
        const seeks = ids.flatMap(([of, id]) => {
          const at = starts.get(of)
          const position = uint(0x53ac, at ?? 0, this.#made.seekWidth)
          return at === undefined ? [] : [element(0x4dbb, 1, element(0x53ab, 1, idBytes(id)), position)]
        })
        return this.#summed(0x114d9b74, ...seeks, ...(unknown.includes('segment') ? [this.#strange(3)] : []))
      }
      default:
        return clusters[Number(name.split(' ')[1])]?.bytes ?? Buffer.alloc(0)
    }
  }

  #width(): number {
    const { widths } = this.#made
    return widths[this.#next++ % widths.length] as number
  }

  #strange(length: number): Buffer {
    return element(0x7abc, this.#width(), marked(length, length))
  }

  #at(place: string, length = 6): readonly Buffer[] {
    return this.#made.unknown.includes(place) ? [this.#strange(length)] : []
  }

  /** A master with a checksum over its body, if the file has any. */
  #summed(id: number, ...parts: readonly Buffer[]): Buffer {
    return element(id, this.#width(), ...(this.#made.sums ? [sumOf(Buffer.concat(parts))] : []), ...parts)
  }

  #tracks(): Buffer {
    const { tracks, headerStripped } = this.#made
    const entries = tracks.map((isSound, place) => {
      const audio = element(
        0xe1,
        this.#width(),
        element(0xb5, 1, Buffer.from([0x47, 0x2c, 0x44, 0])),
        ...this.#at('audio'),
        uint(0x9f, 1),
      )
      const stripped = element(0x5035, 1, element(0x5034, 1, uint(0x4254, 3), element(0x4255, 1, marked(4, 1))))
      return element(
        0xae,
        this.#width(),
        uint(0xd7, place + 1),
        uint(0x73c5, 1000 + place, 8),
        ...this.#at('entry'),
        uint(0x83, isSound ? 2 : 17),
        ...(place === 0 && headerStripped ? [element(0x6d80, 1, element(0x6240, 1, stripped))] : []),
        text(0x86, isSound ? 'A_MPEG/L3' : 'S_TEXT/UTF8'),
        text(0x536e, `Track ${place}`),
        uint(0x23e383, 24_000_000, 4),
        ...(isSound ? [audio] : []),
      )
    })
    return this.#summed(0x1654ae6b, ...this.#at('tracks'), ...entries)
  }

  #tags(): Buffer {
    const { unknown } = this.#made
    const simple = (name: string, value: string) =>
      element(0x67c8, this.#width(), text(0x45a3, name), text(0x4487, value))
    const tag = (uid: number, ...parts: readonly Buffer[]) =>
      this.#summed(0x7373, element(0x63c0, 1, uint(0x63c5, uid, 8)), ...parts)
    const statistics = (uid: number) =>
      tag(uid, simple('BPS', '1'), simple('NUMBER_OF_FRAMES', '2'), ...this.#at('tag'), simple('ARTIST', 'One'))
    const strange = unknown.includes('tags') ? [this.#strange(9)] : []
    const loud = tag(1000, simple('REPLAYGAIN_GAIN', '-3 dB'), simple('DURATION', '00:00:00.000000000'))
    return this.#summed(0x1254c367, statistics(1000), ...strange, statistics(1001), loud)
  }

  #clusterList(): readonly (readonly (MadeBlock & { readonly time: number })[])[] {
    const { blocks, split, tracks } = this.#made
    let time = 40
    const timed = [{ track: 0, ticks: 0, size: 9, form: 'simple' } as const, ...blocks]
      .filter(({ track }) => track < tracks.length)
      .map((made) => {
        time += made.ticks
        return { ...made, time }
      })
    const lists: (MadeBlock & { readonly time: number })[][] = []
    for (const made of timed) {
      const last = lists.at(-1)
      const first = last?.[0]
      if (!last || !first || last.length >= split || made.time - first.time > 30_000) lists.push([made])
      else last.push(made)
    }
    return lists
  }

  #clusters(starts: ReadonlyMap<string, number>, lengths: ReadonlyMap<string, number>): readonly MadeCluster[] {
    const { states, sums, openClusters } = this.#made
    return this.#clusterList().map((list, place) => {
      const tick = list[0]?.time ?? 0
      const head = [
        uint(0xe7, tick, 2),
        ...(states ? [uint(0xa7, starts.get(`cluster ${place}`) ?? 0, 1 + (place % 4))] : []),
        ...(states && place > 0 ? [uint(0xab, lengths.get(`cluster ${place - 1}`) ?? 0, 1)] : []),
        ...this.#at('cluster'),
      ]
      const placed: Placed[] = []
      const sumBytes = sums ? 6 : 0
      let relative = sumBytes + Buffer.concat(head).length
      const blocks = list.map((made, number) => {
        const bytes = this.#block(made, made.time - tick, 7 * place + number)
        placed.push({ track: made.track, time: made.time, relative, number: number + 1 })
        relative += bytes.length
        return bytes
      })
      const parts = [...head, ...blocks, ...this.#at('end of cluster')]
      const bytes = openClusters
        ? Buffer.concat([Buffer.from('1f43b67501ffffffffffffff', 'hex'), ...this.#openSum(parts), ...parts])
        : this.#summed(0x1f43b675, ...parts)
      return { bytes, placed }
    })
  }

  #openSum(parts: readonly Buffer[]): readonly Buffer[] {
    return this.#made.sums ? [sumOf(Buffer.concat(parts))] : []
  }

  #block({ track, size: length, form }: MadeBlock, time: number, mark: number): Buffer {
    const lead = Buffer.from([0x80 | (track + 1), 0, 0, form === 'simple' ? 0x80 : 0])
    lead.writeInt16BE(time, 1)
    const payload = marked(length, mark)
    const lace = LACES[form]?.(payload)
    if (lace) {
      lead[3] = 0x80 | lace.flags
      return element(0xa3, this.#width(), lead, Buffer.from(lace.sizes), ...lace.packets)
    }
    if (form === 'simple') return element(0xa3, this.#width(), lead, payload)
    const isVoice = track === 0
    // Additions and references of a track that stays.
    const more = isVoice ? [uint(0x9b, 24)] : [element(0x75a1, 2, marked(12, 3)), element(0xfb, 1, Buffer.from([0xf0]))]
    return element(0xa0, this.#width(), element(0xa1, this.#width(), lead, payload), ...more, ...this.#at('group'))
  }

  #cues(starts: ReadonlyMap<string, number>, clusters: readonly MadeCluster[]): Buffer {
    const { cueDetails } = this.#made
    const points = clusters.flatMap(({ placed }, place) => {
      const shown = placed.filter((_, number) => number % 3 === 0)
      return shown.map(({ track, time, relative, number }) => {
        const details = cueDetails.map((detail) => (detail === 'place' ? uint(0xf0, relative) : uint(0x5378, number)))
        const position = uint(0xf1, starts.get(`cluster ${place}`) ?? 0)
        const positions = element(0xb7, this.#width(), uint(0xf7, track + 1), position, ...details, ...this.#at('cue'))
        return element(0xbb, 1, uint(0xb3, time), positions)
      })
    })
    return this.#summed(0x1c53bb6b, ...points, ...this.#at('cues'))
  }
}

interface MadeCluster {
  readonly bytes: Buffer
  readonly placed: readonly Placed[]
}
