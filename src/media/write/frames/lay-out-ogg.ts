import { BEGINS } from '../../probe/ends/ogg-page.js'
import type { BytePiece } from '../byte-plan.js'
import { commentList, newHeaders, type OggHeaders } from './ogg-headers.js'
import { NO_GRANULE, oggPage, pagesOfPackets } from './ogg-pages.js'
import type { DonorPage, OggDonor } from './splice-ogg.js'
import { staleComments } from './vorbis-comments.js'

/** An Ogg file with one stream of audio. */
export interface OggFile {
  readonly headers: OggHeaders
  /** All pages and the bytes before and between them, in file order. */
  readonly runs: readonly PageRun[]
  /** True if a stream states places in the file, which new pages would move. */
  readonly statesPlaces: boolean
  /** Bytes behind the last page, which readers skip. */
  readonly rest: { readonly start: number; readonly length: number }
  /** The last page, if the file ends within it and it is one of the audio. Players skip it. */
  readonly cut: { readonly start: number; readonly length: number } | null
}

/** A page of the audio, or all pages of other streams or other bytes up to the next of them. Offsets in bytes. */
export interface PageRun {
  readonly start: number
  readonly length: number
  /** Readers skip other bytes, such as an ID3 tag before the first page. */
  readonly holds: 'sound' | 'streams' | 'bytes'
  /** That of the page, or of the first. */
  readonly granule: bigint
}

/** Puts new pages of audio between those of the other streams, at the times at which the old ones were. */
export function layOutOgg({ headers, runs, rest }: OggFile, donor: OggDonor): readonly BytePiece[] {
  const { serial, end } = headers
  const { id, more, count } = headerPieces(headers, donor.headers)
  const sound = new SoundPages(donor.pages, serial, count)
  const last = runs.findLast(({ holds }) => holds === 'sound')
  const pieces = runs.flatMap((page): readonly BytePiece[] => {
    if (page.holds !== 'sound') return [inputOf(page)]
    if (page.start === headers.pages[0]?.start) return id
    if (page.start === headers.pages[1]?.start) return page === last ? [...more, ...sound.rest()] : more
    if (page.start < end) return []
    return page === last ? sound.rest() : sound.until(page.granule)
  })
  return [...pieces, ...(rest.length > 0 ? [inputOf(rest)] : [])]
}

function inputOf({ start, length }: { readonly start: number; readonly length: number }): BytePiece {
  return { kind: 'input', start, length }
}

/** The page of the id header, and those of the other headers. @param made null if the packets stay the input's */
function headerPieces(headers: OggHeaders, made: readonly Buffer[] | null) {
  const { codec, serial, packets, pages } = headers
  const [first, ...others] = pages.map(inputOf)
  const isSame = staleComments(commentList(headers)).length === 0
  if (made === null && isSame && first) return { id: [first], more: others, count: pages.length }
  const [id = Buffer.alloc(0), ...rest] = newHeaders(headers, made ?? packets)
  const idPage = pagesOfPackets([id], serial, 0, BEGINS).flat()
  if (codec !== 'vorbis' && isSame) return { id: idPage, more: others, count: pages.length }
  const more = pagesOfPackets(rest, serial, 1)
  return { id: idPage, more: more.flat(), count: 1 + more.length }
}

/** The new pages of audio, in turn. */
class SoundPages {
  readonly #pages: readonly DonorPage[]
  readonly #serial: number
  /** Number of the first page in its stream. */
  readonly #firstNumber: number
  #next = 0

  constructor(pages: readonly DonorPage[], serial: number, firstNumber: number) {
    this.#pages = pages
    this.#serial = serial
    this.#firstNumber = firstNumber
  }

  /** The next pages whose packets end until then. A page in which no packet ends goes with the one behind it. */
  until(granule: bigint): readonly BytePiece[] {
    if (granule === NO_GRANULE) return []
    let end = this.#next
    for (let at = this.#next; at < this.#pages.length; at++) {
      const own = (this.#pages[at] as DonorPage).granule
      if (own === NO_GRANULE) continue
      if (own > granule) break
      end = at + 1
    }
    return this.#take(end)
  }

  rest(): readonly BytePiece[] {
    return this.#take(this.#pages.length)
  }

  #take(end: number): readonly BytePiece[] {
    const first = this.#next
    this.#next = end
    return this.#pages.slice(first, end).flatMap((page, place) => {
      const body = [...(page.before ? [page.before] : []), page].map(
        ({ start, bodyLength }): BytePiece => ({ kind: 'donor', donor: 0, start, length: bodyLength }),
      )
      return oggPage(page, this.#serial, this.#firstNumber + first + place, ...body)
    })
  }
}
