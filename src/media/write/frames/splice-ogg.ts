import { type FileHandle, open } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { MOST_SEGMENTS, type OggPage } from '../../probe/ends/ogg-page.js'
import type { PacketList, SpliceableTrack, VorbisHeaders } from '../splice/old-packets.js'
import { OPUS_RATE, opusSamples, preSkipOf } from '../splice/opus-samples.js'
import { blockSize, blockSizes, samplesOfBlocks, startsFrom } from '../splice/vorbis-blocks.js'
import type { OggHeaders } from './ogg-headers.js'
import { lacingOf, oggBody, oggPages } from './ogg-pages.js'

/** The audio of a side file, or of old and new packets. */
export interface OggDonor {
  /** Null if the output keeps those of the input. */
  readonly headers: readonly Buffer[] | null
  /** Pages of audio. Their bodies lie in the side file. */
  readonly pages: readonly DonorPage[]
}

/** A page of a side file; `start` is the first byte of its body there. */
export type DonorPage = Pick<OggPage, 'flags' | 'granule' | 'lacing' | 'bodyLength' | 'start'> & {
  /** The first bytes of its body, if they lie elsewhere. */
  readonly before?: Pick<OggPage, 'bodyLength' | 'start'>
}

/** Flag of the last page of a stream. */
const ENDS = 4

interface PagePackets {
  readonly flags: number
  readonly granule: bigint
  /** Place of its first packet, and of the one behind its last. */
  readonly from: number
  readonly to: number
}

/** How the packets of a stream lie on its clock. */
interface OggClock {
  readonly sampleRate: number
  /** Samples at its beginning that are not played. */
  readonly skippedSamples: number
  readonly vorbis: VorbisHeaders | null
  /** Samples of a packet of Opus, or of a block of Vorbis. */
  readonly sizeOf: (packet: Buffer) => number
  /** Samples of each packet from the first on, by its size. */
  readonly samplesOf: (sizes: readonly number[]) => readonly number[]
}

/** Lists the packets of a file of Opus or Vorbis, so that some of them can be replaced; or the reason why they cannot. */
export async function spliceableOgg(
  media: MediaInfo,
  codec: 'opus' | 'vorbis',
  { packets: headers, serial, end }: OggHeaders,
): Promise<SpliceableTrack<OggDonor> | string> {
  const stated = codec === 'opus' ? opusClock(headers) : vorbisClock(headers)
  const { sampleRate, skippedSamples, vorbis, sizeOf, samplesOf } = stated
  await using file = await open(media.path, 'r')
  const listed = await listPackets(file, { serial, end, sizeOf }, media.sizeBytes)
  if (typeof listed === 'string') return listed
  const { starts, lengths, sizes, pages } = listed
  const clock = clockOf(samplesOf(sizes), pages)
  if (typeof clock === 'string') return clock
  const samplesBefore = (packet: number) => clock[packet] as number
  return {
    ...{ frameHead: null, vorbis },
    // ffmpeg may place a reading of Vorbis that starts late wrongly, by up to 20 ms.
    isIndexed: vorbis === null,
    packets: {
      count: starts.length,
      start: (packet) => starts[packet] as number,
      length: (packet) => lengths[packet] as number,
      headBytes: 0,
      startSec: (packet) => (samplesBefore(packet) - skippedSamples) / sampleRate - media.startSec,
    },
    donorOf: (packets) => {
      const playsAt = (packet: number) => {
        const { packet: old, behindSamples } = packets.timeOf(packet)
        return BigInt(samplesBefore(old) + behindSamples)
      }
      return {
        headers: null,
        pages: movedPages(pages, packets, playsAt).flatMap((page) => newPages(page, packets, playsAt)),
      }
    },
  }
}

function opusClock([id]: readonly Buffer[]): OggClock {
  return {
    ...{ sampleRate: OPUS_RATE, vorbis: null, sizeOf: opusSamples, samplesOf: (sizes) => sizes },
    skippedSamples: preSkipOf(id) ?? 0,
  }
}

const VORBIS_RATE_AT = 12

function vorbisClock([id = Buffer.alloc(0), , setUp = Buffer.alloc(0)]: readonly Buffer[]): OggClock {
  const sizes = blockSizes(id)
  return {
    ...{ sampleRate: id.readUInt32LE(VORBIS_RATE_AT), skippedSamples: 0, vorbis: { id, setUp } },
    sizeOf: (packet) => blockSize(packet[0] ?? 0, sizes),
    samplesOf: samplesOfBlocks,
  }
}

/** The packets of all pages, if each lies in one page. */
async function listPackets(
  file: FileHandle,
  { serial, end, sizeOf }: Pick<OggHeaders, 'serial' | 'end'> & Pick<OggClock, 'sizeOf'>,
  sizeBytes: number,
) {
  const starts: number[] = []
  const lengths: number[] = []
  const sizes: number[] = []
  const pages: PagePackets[] = []
  for await (const page of oggPages(file, end)) {
    // Players skip a truncated last page.
    if (page.end > sizeBytes) break
    if (page.serial !== serial) continue
    if ((page.flags & 1) !== 0 || page.lacing.at(-1) === 255) return 'a packet lies in two pages'
    const from = starts.length
    const bodyAt = page.start + page.headLength
    const body = await oggBody(file, page)
    let start = 0
    let length = 0
    for (const segment of page.lacing) {
      length += segment
      if (segment === 255) continue
      starts.push(bodyAt + start)
      lengths.push(length)
      sizes.push(sizeOf(body.subarray(start, start + length)))
      start += length
      length = 0
    }
    pages.push({ flags: page.flags, granule: page.granule, from, to: starts.length })
  }
  return starts.length > 0 ? { starts, lengths, sizes, pages } : 'it has no packets'
}

/** Sample at which each packet begins, and the end of the last, if all play one after another. */
function clockOf(samples: readonly number[], pages: readonly PagePackets[]): readonly number[] | string {
  const starts = startsFrom(0, samples)
  const [first] = pages
  const isAlone = !first || (first.flags & ENDS) !== 0
  const begin = isAlone ? 0 : Number(first.granule) - (starts[first.to] as number)
  // The last page may end early.
  const isSteady = pages.every(
    ({ flags, granule, to }) => (flags & ENDS) !== 0 || Number(granule) === begin + (starts[to] as number),
  )
  return isSteady ? starts.map((start) => begin + start) : 'the clock of its pages has a gap'
}

/** The old pages with the packets after a splice. A page that has none any more gives its end to the one before. */
function movedPages(
  pages: readonly PagePackets[],
  packets: PacketList,
  playsAt: (packet: number) => bigint,
): readonly PagePackets[] {
  const moved: PagePackets[] = []
  for (const { flags, granule, to: old } of pages) {
    const before = moved.at(-1)
    const to = packets.firstAt(old)
    // The end of the last page may be stated early.
    const page = { flags, granule: to === packets.count ? granule : playsAt(to), from: before?.to ?? 0, to }
    if (page.from < to) moved.push(page)
    else if (before) moved[moved.length - 1] = { ...page, from: before.from }
  }
  return moved
}

/** The pages for the packets of an old one: more than one if the new packets need more segments than a page has. */
function newPages(
  { flags, granule, from, to }: PagePackets,
  packets: PacketList,
  playsAt: (packet: number) => bigint,
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
      granule: isLast ? granule : playsAt(end),
      ...{ lacing: Buffer.from(lacing), start, bodyLength },
    })
    first = end
  }
  return pages
}
