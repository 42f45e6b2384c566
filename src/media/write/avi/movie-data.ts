import { MalformedFile } from '../../probe/malformed-file.js'
import { Column } from '../column.js'
import type { FileWindow } from '../file-window.js'
import type { Chunk } from '../structure/chunks.js'

/** The chunks of a stream of sound, in file order. A film has hundreds of thousands. */
export class SoundChunks {
  readonly #start = Column.floats()
  readonly #bytes = Column.integers()

  get count(): number {
    return this.#start.count
  }

  /** @throws MalformedFile for a packet too many */
  push(start: number, bytes: number): void {
    if (this.count === MOST_PACKETS) throw new MalformedFile(`a track has more than ${MOST_PACKETS} packets`)
    this.#start.push(start)
    this.#bytes.push(bytes)
  }

  /** First byte of the head of a chunk. */
  start = (place: number): number => this.#start.get(place)
  /** Bytes of its packet. */
  bytes = (place: number): number => this.#bytes.get(place)
  /** First byte behind it, padding included. */
  end = (place: number): number => this.#start.get(place) + chunkBytes(this.#bytes.get(place))
}

/** Bytes of a chunk with its head and its padding. */
export function chunkBytes(packetBytes: number): number {
  return 8 + packetBytes + (packetBytes % 2)
}

/** Far more than days of film have, and little enough for the memory. */
const MOST_PACKETS = 10_000_000

/** The media data of an AVI (`movi` of each part). Offsets in the file. */
export interface MovieData {
  /** By number of the stream. */
  readonly sound: ReadonlyMap<number, SoundChunks>
  /** Lists (`rec `) that join the chunks of some pictures: start and end of each. */
  readonly records: readonly { readonly start: number; readonly end: number }[]
  /** Indices of OpenDML (`ix00`). */
  readonly indices: readonly Pick<Chunk, 'start' | 'end' | 'bodyStart' | 'bodyLength'>[]
}

/** Lists the chunks of sound. @param numbers of the streams of sound @throws MalformedFile if a chunk exceeds its list */
export async function readMovieData(
  window: FileWindow,
  lists: readonly Chunk[],
  numbers: readonly number[],
): Promise<MovieData> {
  const sound = new Map(numbers.map((number) => [number, new SoundChunks()]))
  const reader = new MovieReader(window, new Map([...sound].map(([number, chunks]) => [soundId(number), chunks])))
  for (const movi of lists) await reader.read(movi)
  return { sound, records: reader.records, indices: reader.indices }
}

class MovieReader {
  readonly #window: FileWindow
  readonly #byId: ReadonlyMap<string, SoundChunks>
  readonly records: { start: number; end: number }[] = []
  readonly indices: Pick<Chunk, 'start' | 'end' | 'bodyStart' | 'bodyLength'>[] = []

  constructor(window: FileWindow, byId: ReadonlyMap<string, SoundChunks>) {
    this.#window = window
    this.#byId = byId
  }

  async read(movi: Chunk): Promise<void> {
    // Some lists do not count the padding of their last chunk, which then is their own.
    const moviEnd = movi.end
    let listEnd = moviEnd
    for (let at = movi.bodyStart + 4; at + 8 <= moviEnd; ) {
      if (at >= listEnd) listEnd = moviEnd
      await this.#window.bring(at)
      const head = this.#window.peek(at, 12)
      const [id, length] = [head.toString('latin1', 0, 4), head.readUInt32LE(4)]
      const end = at + chunkBytes(length)
      if (end > listEnd) throw new MalformedFile(`its chunk ${id} at byte ${at} exceeds its list`)
      if (id === 'LIST' && head.toString('latin1', 8, 12) === 'rec ') {
        if (listEnd !== moviEnd) throw new MalformedFile(`its list at byte ${at} lies in another`)
        listEnd = end
        this.records.push({ start: at, end: listEnd })
        at += 12
        continue
      }
      if (PALETTE.test(id) && paletteBytes(head) > length) {
        throw new MalformedFile(`its palette at byte ${at} states more colours than it has`)
      }
      if (OTHER_INDEX.test(id)) throw new MalformedFile(`it has an index ${id} in its media`)
      if (INDEX.test(id)) this.indices.push({ start: at, end, bodyStart: at + 8, bodyLength: length })
      this.#byId.get(id)?.push(at, length)
      at = end
    }
  }
}

const INDEX = /^ix\d\d$/
/** Ids that some writers give to their indices. */
const OTHER_INDEX = /^(\d\dix|indx|idx1)$/

/** New colours of a picture. ffmpeg reads as many as it states, from the packets behind it too. */
const PALETTE = /^\d\dpc$/

/** Bytes that ffmpeg reads of a palette, by its first colour and their number. @param head of its chunk */
function paletteBytes(head: Buffer): number {
  const [first, count] = [head[8] ?? 0, head[9] ?? 0]
  return 4 + 4 * Math.max(0, ((first + count - 1) & 0xff) - first + 1)
}

/** Id of the chunks of a stream of sound: `01wb`. */
export function soundId(number: number): string {
  return `${String(number).padStart(2, '0')}wb`
}
