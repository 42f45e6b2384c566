import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { type Coding, type NewCoding, packetAt } from './coding.js'
import type { VorbisHeaders } from './old-packets.js'
import { oldPackets, type PacketKind, type Part, type PartJob } from './part-job.js'
import { closedOnError } from './side-packets.js'
import { NoSplice, type SpliceJob } from './splice-job.js'
import { MOST_MOVES, type PacketSpan, ROUNDING_SEC, statedPacketAt, statedSample } from './splice-ranges.js'
import { type BlockSizes, blockSize, blockSizes, commonJoints, samplesOfBlocks, startsFrom } from './vorbis-blocks.js'
import { bestStart, encodeVorbis } from './vorbis-coding.js'

/** Long blocks before a span, from which on new ones are looked for that lie like the old ones. */
const LEAD_STEPS = 24
/** Long blocks read before those. */
const BEFORE_STEPS = 10
/** Long blocks behind a span in which old and new ones almost always meet again in speech. */
const USUAL_MEET_STEPS = 64
/** Long blocks behind a span in which they are looked for: a pause between sentences has no attacks. */
const MEET_STEPS = 128
/** Long blocks read behind those, which the choice of windows and the comparison need. */
const BEHIND_STEPS = 6
/** Long blocks by which a place on the clock may be wrong. */
const REACH_STEPS = 2

/**
 * Packets of Vorbis: short and long blocks, as the encoder chooses. New ones stand where old ones end if both have a
 * block in common there.
 */
export function vorbisPackets(job: SpliceJob, { id }: VorbisHeaders): PacketKind {
  const sizes = blockSizes(id)
  const stepSamples = sizes.long / 2
  return {
    stepSamples,
    samplesOf: (packets) => samplesOfBlocks(packets.map(([head = 0]) => blockSize(head, sizes))),
    mayMeet: (span, from) => {
      const between = statedSample(job, from) - statedSample(job, span.to)
      return between <= (USUAL_MEET_STEPS + LEAD_STEPS + BEFORE_STEPS) * stepSamples
    },
    partOf: (span, file) => partOf(job, sizes, span, file),
    encode: (part, old) => encode(part, old, sizes),
  }
}

async function partOf(job: SpliceJob, sizes: BlockSizes, span: PacketSpan, file: FileHandle): Promise<Part> {
  const { count } = job.track.packets
  const step = sizes.long / 2
  const around = [statedSample(job, span.from), statedSample(job, span.to)] as const
  const first = Math.max(0, statedPacketAt(job, around[0] - (LEAD_STEPS + BEFORE_STEPS) * step))
  const end = Math.min(count, statedPacketAt(job, around[1] + (1 + MEET_STEPS + BEHIND_STEPS) * step) + 1)
  const starts = await startsOf(job, file, sizes, { first, end })
  const startOf = (packet: number) => starts[packet - first] as number
  requireSteadyClock(job, startOf, Math.max(1, first), end)
  const reachSamples = REACH_STEPS * step
  const startSample = startOf(first) - reachSamples
  const sampleCount = startOf(end) - startSample + reachSamples + BEHIND_STEPS * step
  const old: Coding = { first, end, startOf, read: (from, to) => oldPackets(job, file, from, to) }
  return { span, old, reachSamples, window: { path: job.scratch(), startSample, sampleCount } }
}

/** Start of each packet and end of the last, by the sizes of the blocks and the clock at the first. */
async function startsOf(
  job: SpliceJob,
  file: FileHandle,
  sizes: BlockSizes,
  { first, end }: { readonly first: number; readonly end: number },
) {
  const { start } = job.track.packets
  const known: number[] = []
  for (let packet = Math.max(0, first - 1); packet < end; packet++) {
    const [head = 0] = await readAt(file, start(packet), 1)
    known.push(blockSize(head, sizes))
  }
  const lengths = first === 0 ? samplesOfBlocks(known) : samplesOfBlocks(known).slice(1)
  // Some containers give the first packet of a track a length of its own.
  const anchor = Math.min(Math.max(1, first), end - 1)
  const untilAnchor = lengths.slice(0, anchor - first).reduce((sum, length) => sum + length, 0)
  return startsFrom(statedSample(job, anchor) - untilAnchor, lengths)
}

function requireSteadyClock(job: SpliceJob, startOf: (packet: number) => number, first: number, end: number): void {
  for (let packet = first; packet < end; packet++) {
    if (Math.abs(statedSample(job, packet) - startOf(packet)) <= 2 * ROUNDING_SEC * job.input.sampleRate) continue
    throw new NoSplice('the clock of the track has a gap near a regenerated part')
  }
}

async function encode(part: PartJob, old: Coding, sizes: BlockSizes): Promise<NewCoding> {
  const { span } = part.part
  const { track, encoding } = part.job
  const step = sizes.long / 2
  const like = { ...encoding, options: track.encoderOptions ?? encoding.options }
  const before = [old.startOf(span.from) - LEAD_STEPS * step, old.startOf(span.from)] as const
  const fromSample = old.first === 0 ? old.startOf(0) : await bestStart(part, old, { sizes, encoding: like }, before)
  const range = [fromSample, old.startOf(old.end) + BEHIND_STEPS * step] as const
  const { made, run, close } = await encodeVorbis(part, sizes, like, range)
  return closedOnError(close, async () => {
    const left = await commonJoints(old, made, sizes, before)
    const changedEnd = old.startOf(span.to + 1)
    const right = await commonJoints(old, made, sizes, [changedEnd, changedEnd + MEET_STEPS * step])
    const isAtEnd = old.end === part.job.track.packets.count && old.startOf(old.end) - changedEnd <= MEET_STEPS * step
    return {
      ...{ made, runs: [run], close },
      left: left.slice(-MOST_MOVES).reverse(),
      right: right.slice(0, MOST_MOVES),
      atStart: old.first === 0 ? { old: 0, made: 0 } : null,
      atEnd: isAtEnd ? { old: old.end, made: packetAt(made, old.startOf(old.end) - 1) + 1 } : null,
    }
  })
}
