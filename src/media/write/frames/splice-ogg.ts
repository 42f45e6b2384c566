import { type FileHandle, open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import type { PacketPlaces, SpliceableTrack } from '../splice/old-packets.js'
import { packetSamples } from '../splice/same-coding.js'
import { lacingOf, MOST_SEGMENTS, type OggPage, oggPageAt } from './ogg-pages.js'

/** The audio of a side file, or of old and new packets. */
export interface OggDonor {
  /** Null if the output keeps those of the input. */
  readonly headers: readonly Buffer[] | null
  /** Pages of audio. Their bodies lie in the side file. */
  readonly pages: readonly DonorPage[]
}

/** A page of a side file; `start` is the first byte of its body there. */
export type DonorPage = Pick<OggPage, 'flags' | 'granule' | 'lacing' | 'bodyLength' | 'start'>

/** The samples at the start that are not played (RFC 7845, 4.2). */
const PRE_SKIP_AT = 10
const OPUS_RATE = 48_000
/** Flag of the last page of a stream. */
const ENDS = 4

interface PagePackets {
  readonly flags: number
  readonly granule: bigint
  /** Place of its first packet, and of the one behind its last. */
  readonly from: number
  readonly to: number
}

/** Lists the packets of an Opus file, so that some of them can be replaced; or the reason why they cannot. */
export async function spliceableOgg(
  media: MediaInfo,
  [id]: readonly Buffer[],
  soundStart: number,
): Promise<SpliceableTrack<OggDonor> | string> {
  const samples = packetSamples({ codec: 'opus', sampleRate: OPUS_RATE })
  const file = await open(media.path, 'r')
  try {
    const listed = await listPackets(file, soundStart, samples)
    if (typeof listed === 'string') return listed
    const { starts, lengths, pages, firstSample } = listed
    const samplesBefore = (packet: number) => firstSample + packet * samples
    const skipped = id && id.length > PRE_SKIP_AT + 1 ? id.readUInt16LE(PRE_SKIP_AT) : 0
    return {
      frameHead: null,
      isIndexed: true,
      packets: {
        count: starts.length,
        start: (packet) => starts[packet] as number,
        length: (packet) => lengths[packet] as number,
        headBytes: 0,
        startSec: (packet) => (samplesBefore(packet) - skipped) / OPUS_RATE - media.startSec,
      },
      donorOf: (packets) => ({ headers: null, pages: pages.flatMap((page) => newPages(page, packets, samplesBefore)) }),
    }
  } finally {
    await file.close()
  }
}

/** The packets of all pages, if each lies in one page and all play one after another. */
async function listPackets(file: FileHandle, soundStart: number, samples: number) {
  const starts: number[] = []
  const lengths: number[] = []
  const pages: PagePackets[] = []
  let firstSample = 0
  for (let at = soundStart; ; ) {
    const page = await oggPageAt(file, at)
    if (!page) return starts.length > 0 ? { starts, lengths, pages, firstSample } : 'it has no packets'
    if ((page.flags & 1) !== 0 || page.lacing.at(-1) === 255) return 'a packet lies in two pages'
    const from = starts.length
    let start = at + page.headLength
    let length = 0
    for (const segment of page.lacing) {
      length += segment
      if (segment === 255) continue
      starts.push(start)
      lengths.push(length)
      start += length
      length = 0
    }
    const to = starts.length
    if (pages.length === 0) firstSample = firstOf(page, to * samples)
    // The last page may end early.
    const isWhole = Number(page.granule) === firstSample + to * samples
    if (!isWhole && (page.flags & ENDS) === 0) return 'the clock of its pages has a gap'
    pages.push({ flags: page.flags, granule: page.granule, from, to })
    at += page.headLength + page.bodyLength
  }
}

/** The sample at which the first page begins. */
function firstOf({ flags, granule }: OggPage, pageSamples: number): number {
  return (flags & ENDS) === 0 ? Number(granule) - pageSamples : 0
}

/** The pages for the packets of an old one: more than one if the new packets need more segments than a page has. */
function newPages(
  { flags, granule, from, to }: PagePackets,
  packets: PacketPlaces,
  samplesBefore: (packet: number) => number,
): DonorPage[] {
  const pages: DonorPage[] = []
  for (let first = from; first < to; ) {
    const lacing: number[] = []
    let end = first
    while (end < to && (end === first || lacing.length + lacingOf(packets.length(end)).length <= MOST_SEGMENTS)) {
      lacing.push(...lacingOf(packets.length(end)))
      end += 1
    }
    const isLast = end === to
    const [start, bodyLength] = [packets.offsetOf(first), packets.offsetOf(end) - packets.offsetOf(first)]
    pages.push({
      flags: isLast ? flags : flags & ~ENDS,
      granule: isLast ? granule : BigInt(samplesBefore(end)),
      ...{ lacing: Buffer.from(lacing), start, bodyLength },
    })
    first = end
  }
  return pages
}
