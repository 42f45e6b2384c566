import type { FileHandle } from 'node:fs/promises'
import { BEGINS, type OggPage } from '../../probe/ends/ogg-page.js'
import type { LevelField } from '../level/level-field.js'
import type { LevelChange } from '../level/level-text.js'
import { MOST_HEADER_BYTES, oggBody, oggPages, packetsOf, withNewBody } from './ogg-pages.js'
import { withOpusRate } from './opus-rate.js'
import { commentLevels, freshComments, roomyComments } from './vorbis-comments.js'

export type OggCodec = 'vorbis' | 'opus' | 'flac' | 'speex'

const FLAC_COUNT_AT = 7
/** The first byte of a frame of FLAC; no header begins with it. GStreamer announces more headers than it writes. */
const FLAC_SYNC = 0xff
/** Place of the number of further headers in the id header of Speex. */
const SPEEX_EXTRA_AT = 68
/** Bytes before the list: `vorbis` behind the type of its header, `OpusTags`, or the head of a block of FLAC. */
const COMMENT_HEAD_BYTES: Readonly<Record<OggCodec, number>> = { vorbis: 7, opus: 8, flac: 4, speex: 0 }

/** The header packets of a stream. */
export interface OggHeaders {
  readonly codec: OggCodec
  readonly serial: number
  readonly packets: readonly Buffer[]
  /** The pages that hold them; the first holds only the first packet. */
  readonly pages: readonly { readonly start: number; readonly length: number }[]
  /** End of the last of these pages. */
  readonly end: number
}

/**
 * Reads the headers of the first stream of a codec; undefined if there is none, or if audio shares their pages.
 *
 * @param from offset of the first page
 */
export async function readHeaders(file: FileHandle, codec: OggCodec, from = 0): Promise<OggHeaders | undefined> {
  let headers: HeaderPages | undefined
  for await (const page of oggPages(file, from)) {
    if (page.start >= MOST_HEADER_BYTES || (!headers && (page.flags & BEGINS) === 0)) return undefined
    if (headers && page.serial !== headers.serial) continue
    const body = await oggBody(file, page)
    if (codec === 'flac' && body[0] === FLAC_SYNC && headers?.isBehindComments) return headers.read(codec)
    if (!headers) {
      const count = headerCount(codec, packetsOf([{ lacing: page.lacing, body }])[0])
      if (count === undefined) continue
      headers = new HeaderPages(page.serial, count)
    }
    headers.add(page, body)
    if (headers.isShared) return undefined
    if (headers.isComplete) return headers.read(codec)
  }
  return undefined
}

/** The pages of one stream, up to the last of its header packets. */
class HeaderPages {
  readonly serial: number
  readonly #count: number
  readonly #bodies: { lacing: Buffer; body: Buffer }[] = []
  readonly #pages: { start: number; length: number }[] = []
  /** Packets that have ended. */
  #complete = 0
  /** True if the last packet goes on in the next page. */
  #isOpen = false

  constructor(serial: number, count: number) {
    this.serial = serial
    this.#count = count
  }

  add({ start, end, lacing }: OggPage, body: Buffer): void {
    this.#bodies.push({ lacing, body })
    this.#pages.push({ start, length: end - start })
    this.#complete += lacing.filter((length) => length < 255).length
    this.#isOpen = (lacing.at(-1) ?? (this.#isOpen ? 255 : 0)) === 255
  }

  /** True if the first packet does not fill its page alone, or if audio follows the headers in their last page. */
  get isShared(): boolean {
    const isAlone = this.#pages.length > 1 || (this.#complete === 1 && !this.#isOpen)
    return !isAlone || this.#complete > this.#count
  }

  get isComplete(): boolean {
    return this.#complete === this.#count && !this.#isOpen
  }

  get isBehindComments(): boolean {
    return this.#complete > 1 && !this.#isOpen
  }

  read(codec: OggCodec): OggHeaders {
    const { start, length } = this.#pages.at(-1) ?? { start: 0, length: 0 }
    return { codec, serial: this.serial, packets: packetsOf(this.#bodies), pages: this.#pages, end: start + length }
  }
}

/** Number of header packets; undefined if the first is of another codec. */
function headerCount(codec: OggCodec, first: Buffer | undefined): number | undefined {
  switch (codec) {
    case 'vorbis':
      return first?.toString('latin1', 1, 7) === 'vorbis' ? 3 : undefined
    case 'opus':
      return first?.toString('latin1', 0, 8) === 'OpusHead' ? 2 : undefined
    case 'flac': {
      if (first?.toString('latin1', 1, 5) !== 'FLAC' || first.length < 9) return undefined
      // 0: their number is not known.
      return 1 + (first.readUInt16BE(FLAC_COUNT_AT) || Number.POSITIVE_INFINITY)
    }
    case 'speex':
      if (first?.toString('latin1', 0, 8) !== 'Speex   ' || first.length < SPEEX_EXTRA_AT + 4) return undefined
      // The id header of new sound announces no others.
      return first.readUInt32LE(SPEEX_EXTRA_AT) === 0 ? 2 : undefined
    default:
      return codec satisfies never
  }
}

/** The list of comments, without what names the packet, and with room for a new gain. */
export function commentList({ codec, packets: [, packet = Buffer.alloc(0)] }: OggHeaders): Buffer {
  return roomyComments(packet.subarray(COMMENT_HEAD_BYTES[codec]))
}

/** The pages with the comments of an output, whose checksums cover what they state about the level of the sound. */
export async function oggLevels(part: FileHandle, codec: OggCodec): Promise<readonly LevelField[]> {
  const headers = await readHeaders(part, codec)
  const pages = headers?.pages.slice(1) ?? []
  const [first, last] = [pages[0], pages.at(-1)]
  if (!headers || !first || !last) return []
  const values = commentLevels(commentList(headers), COMMENT_HEAD_BYTES[codec])
  const renewed = (old: Buffer, change: LevelChange) => {
    const own = pages.map(({ start, length }) => old.subarray(start - first.start, start - first.start + length))
    return withNewBody(own, (body) => {
      for (const { start, length, renewed: text } of values) {
        text(body.subarray(start, start + length), change).copy(body, start)
      }
    })
  }
  return [{ start: first.start, length: last.start + last.length - first.start, renewed }]
}

/** The header packets of new audio: its id header and set-up, with the comments of the input but for stale ones. */
export function newHeaders(old: OggHeaders, made: readonly Buffer[]): readonly Buffer[] {
  const { codec, packets } = old
  const [id = Buffer.alloc(0), , setUp = Buffer.alloc(0)] = made
  const [, packet = Buffer.alloc(0), ...more] = packets
  const fresh = freshComments(commentList(old))
  const comment = Buffer.concat([commentHead(codec, packet.subarray(0, COMMENT_HEAD_BYTES[codec]), fresh), fresh])
  return [idHeader(codec, id, packets), comment, ...(codec === 'vorbis' ? [setUp] : more)]
}

/** A block of FLAC states its size. */
function commentHead(codec: OggCodec, head: Buffer, list: Buffer): Buffer {
  if (codec !== 'flac' || head.length < 4) return head
  const sized = Buffer.from(head)
  sized.writeUIntBE(list.length, 1, 3)
  return sized
}

/** FLAC states the number of header packets in the first of them. */
function idHeader(codec: OggCodec, id: Buffer, headers: readonly Buffer[]): Buffer {
  if (codec === 'opus') return withOpusRate(headers[0], id)
  if (codec !== 'flac' || id.length < 9) return id
  const counted = Buffer.from(id)
  counted.writeUInt16BE(headers.length - 1, FLAC_COUNT_AT)
  return counted
}
