import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { type BytePiece, bytePlan } from '../byte-plan.js'
import { kept, lost, rewritten } from '../census.js'
import { oggPageOptions } from '../ogg-page-options.js'
import { staleReason } from '../stale-facts.js'
import type { Survey, Wanted, Writer } from '../writer.js'
import { holdsPage, oggPage, oggPageAt, packetsOf, pagesOfPackets } from './ogg-pages.js'
import { type DonorPage, type OggDonor, spliceableOgg } from './splice-ogg.js'
import { freshComments, staleComments } from './vorbis-comments.js'

type OggCodec = 'vorbis' | 'opus' | 'flac'

/** An Ogg file of one stream. */
interface OggFile {
  readonly codec: OggCodec
  readonly serial: number
  readonly headers: readonly Buffer[]
  readonly idEnd: number
  /** End of the header pages and start of the audio. */
  readonly soundStart: number
  readonly headerPages: number
  /** Start and length of bytes behind the last page, which readers skip. */
  readonly rest: { readonly start: number; readonly length: number }
}

const MOST_HEADER_BYTES = 64 * 1024 ** 2
const FLAC_COUNT_AT = 7
/** Bytes before the list: `vorbis` behind the type of its header, `OpusTags`, or the head of a block of FLAC. */
const COMMENT_HEAD_BYTES: Readonly<Record<OggCodec, number>> = { vorbis: 7, opus: 8, flac: 4 }

/** Writes Vorbis, Opus and FLAC in Ogg: new audio and set-up, with the input's own comments and pictures. */
export const oggFrames: Writer<OggFile, OggDonor> = {
  name: 'frames',
  parse,
  survey,
  readDonor,
  splice: async ({ codec, headers, soundStart }, { media }) =>
    codec === 'flac' ? 'its codec is lossless' : spliceableOgg(media, codec, headers, soundStart),
  layOut,
}

async function parse(media: MediaInfo): Promise<OggFile | null> {
  const codec = media.streams.find(({ kind }) => kind === 'audio')?.codec
  if (media.container !== 'ogg' && media.container !== 'opus') return null
  if (codec !== 'vorbis' && codec !== 'opus' && codec !== 'flac') return null
  const file = await open(media.path, 'r')
  try {
    const read = await readHeaders(file, codec)
    if (!read) return null
    let at = read.soundStart
    while (at < media.sizeBytes) {
      const page = await oggPageAt(file, at)
      if (!page && at > read.soundStart && !(await holdsPage(file, at))) break
      // A second stream, or bytes between pages, is not supported.
      if (!page || page.serial !== read.serial || (page.flags & 2) !== 0) return null
      at += page.headLength + page.bodyLength
    }
    // Players skip a truncated last page; the audio ends before it.
    return { codec, ...read, rest: { start: at, length: Math.max(0, media.sizeBytes - at) } }
  } finally {
    await file.close()
  }
}

async function readHeaders(file: FileHandle, codec: OggCodec): Promise<Omit<OggFile, 'codec' | 'rest'> | undefined> {
  const pages: { lacing: Buffer; body: Buffer }[] = []
  let at = 0
  let serial: number | undefined
  let idEnd = 0
  while (at < MOST_HEADER_BYTES) {
    const page = await oggPageAt(file, at)
    if (!page || (serial !== undefined && page.serial !== serial)) return undefined
    serial ??= page.serial
    pages.push({ lacing: page.lacing, body: await readAt(file, at + page.headLength, page.bodyLength) })
    at += page.headLength + page.bodyLength
    const { packets, isOpen } = packetsOf(pages)
    if (pages.length === 1) idEnd = packets.length === 1 && !isOpen ? at : 0
    const count = headerCount(codec, packets[0])
    if (idEnd === 0 || count === undefined || packets.length > count) return undefined
    if (packets.length === count && !isOpen) {
      return { serial, headers: packets, idEnd, soundStart: at, headerPages: pages.length }
    }
  }
  return undefined
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
      const more = first.readUInt16BE(FLAC_COUNT_AT)
      return more === 0 ? undefined : 1 + more
    }
    default:
      return codec satisfies never
  }
}

function survey({ codec, headers, idEnd, soundStart, rest }: OggFile, { media, tracks }: Wanted): Survey {
  const [track] = tracks
  if (!track || track.encoding.codec !== codec) return { kind: 'declines', reason: `its audio does not stay ${codec}` }
  if (Math.abs(media.startSec) > 0.1) return { kind: 'declines', reason: 'its clock does not begin at zero' }
  const comments = soundStart - idEnd
  const stale = staleComments(commentList(codec, headers).list)
  const sharesPages = codec === 'vorbis'
  const why = sharesPages
    ? `the comments that stay are the same; their pages hold the new ${codec} set-up too`
    : 'the comments that stay are the same'
  return {
    kind: 'takes',
    census: [
      rewritten('id header', 0, idEnd, 'it describes the new sound'),
      sharesPages || stale.length > 0
        ? rewritten(sharesPages ? 'comment and set-up' : 'comment', idEnd, comments, why)
        : kept('comment', idEnd, comments),
      // A comment may lie in several pages, so its bytes count as theirs.
      ...stale.map(({ name }) => lost(`comment:${name}`, idEnd, 0, staleReason(name) ?? '')),
      rewritten('sound', soundStart, media.sizeBytes - rest.length - soundStart, `the audio is re-encoded as ${codec}`),
      ...(rest.length > 0 ? [kept('bytes behind the pages', rest.start, rest.length)] : []),
    ],
    donors: [
      {
        muxer: codec === 'opus' ? 'opus' : 'ogg',
        options: codec === 'vorbis' ? oggPageOptions(media) : [],
        skipSamples: 0,
        sampleCount: null,
      },
    ],
  }
}

async function readDonor(path: string, _track: unknown, _signal: unknown, parsed: OggFile): Promise<OggDonor> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const read = await readHeaders(file, parsed.codec)
    const pages: DonorPage[] = []
    for (let at = read?.soundStart ?? size; at < size; ) {
      const page = await oggPageAt(file, at)
      if (!page) break
      pages.push({ ...page, start: at + page.headLength })
      at += page.headLength + page.bodyLength
    }
    return { headers: read?.headers ?? [], pages }
  } finally {
    await file.close()
  }
}

function layOut(parsed: OggFile, _wanted: Wanted, [donor]: readonly OggDonor[]) {
  const { pages = [], headers = [] } = donor ?? {}
  const { pieces, pages: count } = headerPieces(parsed, headers)
  const sound = pages.flatMap((page, place) =>
    oggPage(page, parsed.serial, count + place, {
      kind: 'donor',
      donor: 0,
      start: page.start,
      length: page.bodyLength,
    }),
  )
  const { rest } = parsed
  const behind: BytePiece[] = rest.length > 0 ? [{ kind: 'input', ...rest }] : []
  return bytePlan([...pieces, ...sound, ...behind])
}

/** The new id header, then the input's own comments but for stale ones. @param made null if the packets stay the input's */
function headerPieces(parsed: OggFile, made: readonly Buffer[] | null) {
  const { codec, serial, headers, idEnd, soundStart, headerPages } = parsed
  const { head, list } = commentList(codec, headers)
  const fresh = freshComments(list)
  const isSame = fresh.length === list.length
  if (made === null && isSame) {
    const all: BytePiece = { kind: 'input', start: 0, length: soundStart }
    return { pieces: [all], pages: headerPages }
  }
  const [id = Buffer.alloc(0), , setup = Buffer.alloc(0)] = made ?? headers
  const first = pagesOfPackets([idHeader(codec, id, headers)], serial, 0, 2).flat()
  if (codec !== 'vorbis' && isSame) {
    const rest: BytePiece = { kind: 'input', start: idEnd, length: soundStart - idEnd }
    return { pieces: [...first, rest], pages: headerPages }
  }
  const comment = Buffer.concat([commentHead(codec, head, fresh), fresh])
  const more = pagesOfPackets([comment, ...(codec === 'vorbis' ? [setup] : headers.slice(2))], serial, 1)
  return { pieces: [...first, ...more.flat()], pages: 1 + more.length }
}

/** The packet of comments: what names it, and the list. */
function commentList(codec: OggCodec, [, packet = Buffer.alloc(0)]: readonly Buffer[]) {
  const length = COMMENT_HEAD_BYTES[codec]
  return { head: packet.subarray(0, length), list: packet.subarray(length) }
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
  if (codec !== 'flac' || id.length < 9) return id
  const counted = Buffer.from(id)
  counted.writeUInt16BE(headers.length - 1, FLAC_COUNT_AT)
  return counted
}
