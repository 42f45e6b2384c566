import type { AudioEncoding } from '../encode/audio-encoding.js'
import { type Coding, packetAt } from './coding.js'
import { encodeSound, type PartJob } from './part-job.js'
import { isSameCoding } from './same-coding.js'
import { closedOnError, openSide, type SidePackets } from './side-packets.js'
import { NoSplice } from './splice-job.js'
import { type BlockSizes, blockSize, commonJoints, edgeSamples, samplesOfBlocks, startsFrom } from './vorbis-blocks.js'

/** Encodes samples of the clock. The first block has its middle at the first sample. */
export async function encodeVorbis(
  part: PartJob,
  sizes: BlockSizes,
  encoding: AudioEncoding,
  [fromSample, toSample]: readonly [number, number],
) {
  const { scratch } = part.job
  const path = scratch()
  const run = await encodeSound(part, [fromSample, toSample - fromSample], encoding, [{ path, skipSamples: 0 }])
  const side = await openSide(path)
  const made = await closedOnError(side.close, () => {
    if (!isSameCoding({ entry: part.head.entry, packet: undefined }, { entry: side.entry, packet: undefined })) {
      throw new NoSplice("the encoder's settings differ from those of the track")
    }
    return codingOf(side, sizes, fromSample)
  })
  return { made, run, close: side.close }
}

/** Packets read at a time: a part can be long. */
const AT_ONCE = 256

async function codingOf({ count, read }: SidePackets, sizes: BlockSizes, fromSample: number): Promise<Coding> {
  const known: number[] = []
  for (let packet = 0; packet < count; packet += AT_ONCE) {
    const packets = await read(packet, Math.min(count, packet + AT_ONCE))
    known.push(...packets.map(([head = 0]) => blockSize(head, sizes)))
  }
  const starts = startsFrom(fromSample, samplesOfBlocks(known))
  return { first: 0, end: count, startOf: (packet) => starts[packet] as number, read }
}

/**
 * Finds the sample at which to begin encoding, so that new blocks lie like the old ones. Short blocks lie in one grid,
 * but long ones may begin at any of its places. Each is tried with the sound before the span.
 */
export async function bestStart(
  part: PartJob,
  old: Coding,
  { sizes, encoding }: { readonly sizes: BlockSizes; readonly encoding: AudioEncoding },
  [fromSample, toSample]: readonly [number, number],
): Promise<number> {
  const { scratch } = part.job
  const anchor = packetAt(old, fromSample)
  const [[head = 0] = []] = await old.read(anchor, anchor + 1)
  const edge = old.startOf(anchor + 1) - edgeSamples(blockSize(head, sizes))
  const grid = sizes.short / 2
  const starts = Array.from(
    { length: sizes.long / sizes.short },
    (_, place) => edge - edgeSamples(sizes.short) + place * grid,
  )
  const [base] = starts as [number]
  const files = starts.map((start) => ({ path: scratch(), skipSamples: start - base }))
  const length = toSample + TAIL_BLOCKS * sizes.long - base
  await encodeSound(part, [base, length], encoding, files)
  const counts = []
  for (const { path, skipSamples } of files) {
    const side = await openSide(path)
    try {
      const made = await codingOf(side, sizes, base + skipSamples)
      counts.push((await commonJoints(old, made, sizes, [fromSample, toSample])).length)
    } finally {
      await side.close()
    }
  }
  return starts[counts.indexOf(Math.max(...counts))] as number
}

/** Long blocks encoded behind the sound in which joints are looked for. */
const TAIL_BLOCKS = 3
