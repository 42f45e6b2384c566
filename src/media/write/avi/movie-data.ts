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

/** The media data of an AVI (`movi`). Offsets in the file. */
export interface MovieData {
  /** By number of the stream. */
  readonly sound: ReadonlyMap<number, SoundChunks>
  /** Lists (`rec `) that join the chunks of some pictures: start and end of each. */
  readonly records: readonly { readonly start: number; readonly end: number }[]
}

/** Lists the chunks of sound. @param numbers of the streams of sound @throws MalformedFile if a chunk exceeds its list */
export async function readMovieData(window: FileWindow, movi: Chunk, numbers: readonly number[]): Promise<MovieData> {
  const sound = new Map(numbers.map((number) => [number, new SoundChunks()]))
  const byId = new Map([...sound].map(([number, chunks]) => [soundId(number), chunks]))
  const records: { start: number; end: number }[] = []
  // Some lists do not count the padding of their last chunk.
  const oddList = (at: number) => new MalformedFile(`its list at byte ${at} has an odd size`)
  if (movi.bodyLength % 2 === 1) throw oddList(movi.start)
  const moviEnd = movi.end
  let listEnd = moviEnd
  for (let at = movi.bodyStart + 4; at + 8 <= moviEnd; ) {
    if (at >= listEnd) listEnd = moviEnd
    await window.bring(at)
    const head = window.peek(at, 12)
    const [id, length] = [head.toString('latin1', 0, 4), head.readUInt32LE(4)]
    const end = at + chunkBytes(length)
    if (end > listEnd) throw new MalformedFile(`its chunk ${id} at byte ${at} exceeds its list`)
    if (/^ix\d\d$/.test(id)) throw new MalformedFile('it has an index of OpenDML')
    if (id === 'LIST' && head.toString('latin1', 8, 12) === 'rec ') {
      if (listEnd !== moviEnd) throw new MalformedFile(`its list at byte ${at} lies in another`)
      if (length % 2 === 1) throw oddList(at)
      listEnd = end
      records.push({ start: at, end: listEnd })
      at += 12
      continue
    }
    byId.get(id)?.push(at, length)
    at = end
  }
  return { sound, records }
}

/** Id of the chunks of a stream of sound: `01wb`. */
export function soundId(number: number): string {
  return `${String(number).padStart(2, '0')}wb`
}
