import { type FileHandle, open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { isOgg } from '../../probe/file-tags.js'
import { unlessMalformed } from '../../probe/malformed-file.js'
import type { MuxLoss } from '../remux/mux-losses.js'
import { MOST_HEADER_BYTES, oggBody, oggPages, packetsOf } from './ogg-pages.js'
import { vorbisComments } from './vorbis-comments.js'

type PageContent = Parameters<typeof packetsOf>[0][number]

/** First bytes of a packet of comments (Vorbis, Opus, Theora). */
const COMMENT_HEADS = ['\x03vorbis', 'OpusTags', '\x81theora']

/** Comments of an Ogg file that have several values, such as three artists. ffmpeg joins these into one. */
export async function repeatedCommentLosses({ path, container }: MediaInfo): Promise<readonly MuxLoss[]> {
  if (!isOgg(container)) return []
  await using file = await open(path, 'r')
  const names = [...(await headerPages(file)).values()].flatMap((pages) => packetsOf(pages).flatMap(repeated))
  if (names.length === 0) return []
  const what = `repeated comments (${[...new Set(names)].join(', ')})`
  return [{ what, stream: null, reason: 'ffmpeg joins their values into one' }]
}

/** Pages before the first sound or picture, by the serial number of their stream. */
async function headerPages(file: FileHandle): Promise<ReadonlyMap<number, PageContent[]>> {
  const found = new Map<number, PageContent[]>()
  for await (const page of oggPages(file, 0)) {
    // A page within a packet has a granule of -1.
    if (page.start >= MOST_HEADER_BYTES || BigInt.asIntN(64, page.granule) > 0n) break
    const pages = found.get(page.serial) ?? []
    pages.push({ lacing: page.lacing, body: await oggBody(file, page) })
    found.set(page.serial, pages)
  }
  return found
}

/** Names, in small letters, that stand more than once in a packet of comments. */
function repeated(packet: Buffer): readonly string[] {
  const head = COMMENT_HEADS.find((name) => packet.toString('latin1', 0, name.length) === name)
  if (head === undefined) return []
  // ffmpeg reads no more of them either: see the limit in `probe-answer.ts`.
  const comments = unlessMalformed(() => vorbisComments(packet.subarray(head.length)), [])
  const names = comments.map(({ name }) => name.toLowerCase())
  const seen = new Set<string>()
  return names.filter((name) => seen.size === seen.add(name).size)
}
