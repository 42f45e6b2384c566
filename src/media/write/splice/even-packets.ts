import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { carryReservoir } from './bit-reservoir.js'
import type { Coding, Joint, NewCoding } from './coding.js'
import { isJoinable, OPUS_HEAD_BYTES, opusSamples } from './opus-samples.js'
import { encodeSound, oldPackets, type PacketKind, type Part, type PartJob } from './part-job.js'
import { isSameCoding, packetSamples, settingsLike } from './same-coding.js'
import { closedOnError, openSide } from './side-packets.js'
import { NoSplice, type SpliceJob } from './splice-job.js'
import { LEAD_PACKETS, MOST_MOVES, type PacketSpan, ROUNDING_SEC, statedSample, TAIL_PACKETS } from './splice-ranges.js'

/** Packets by which a place on the clock may be wrong: some containers leave out priming. */
const REACH_PACKETS = 2
/** Old packets in which the data of the one behind them is looked for. */
const RESERVOIR_PACKETS = 32

/** Packets that all last equally long: each new one takes the place of an old one. @param primingSamples of the encoder */
export async function evenPackets(job: SpliceJob, file: FileHandle, primingSamples: number): Promise<PacketKind> {
  const stepSamples = await samplesInPacket(job, file)
  return {
    stepSamples,
    samplesOf: (packets) => packets.map(() => stepSamples),
    mayMeet: (span, from) => from - span.to <= 2 * (MOST_MOVES + LEAD_PACKETS),
    partOf: async (span) => partOf(job, span, file, { stepSamples, primingSamples }),
    encode: (part, old) => encode(part, old, primingSamples),
    closing,
  }
}

/** An encoder of Opus may choose how long its packets last, so one in the middle of the track is read. */
async function samplesInPacket({ input, track }: SpliceJob, file: FileHandle): Promise<number> {
  if (input.codec !== 'opus') return packetSamples(input)
  const { count, start, headBytes } = track.packets
  const samples = opusSamples(await readAt(file, start(Math.floor(count / 2)) + headBytes, OPUS_HEAD_BYTES))
  if (!isJoinable(samples)) throw new NoSplice('its packets last shorter than 10 ms or longer than 60 ms')
  return samples
}

/** First and last packet that are encoded, lead-in and lead-out included. The first may be negative. */
function encodedSpan({ from, to }: PacketSpan): PacketSpan {
  return { from: from - MOST_MOVES - LEAD_PACKETS, to: to + MOST_MOVES + TAIL_PACKETS }
}

function partOf(
  job: SpliceJob,
  span: PacketSpan,
  file: FileHandle,
  { stepSamples: samples, primingSamples }: { readonly stepSamples: number; readonly primingSamples: number },
): Part {
  const { track, input, scratch } = job
  const { from: first, to: last } = encodedSpan(span)
  const known = Math.max(0, first)
  const zeroSample = statedSample(job, known) - known * samples
  for (let packet = known; packet <= Math.min(last, track.packets.count - 1); packet++) {
    const off = statedSample(job, packet) - zeroSample - packet * samples
    if (Math.abs(off) > ROUNDING_SEC * input.sampleRate) {
      throw new NoSplice('the clock of the track has a gap near a regenerated part')
    }
  }
  const reachSamples = REACH_PACKETS * samples
  const startSample = zeroSample + first * samples - reachSamples
  const sampleCount = (last - first + 1) * samples + 2 * reachSamples + primingSamples
  const old: Coding = {
    ...{ first: 0, end: track.packets.count, startOf: (packet) => zeroSample + packet * samples },
    read: (from, to) => oldPackets(job, file, from, to),
  }
  return { span, old, reachSamples, window: { path: scratch(), startSample, sampleCount } }
}

/** Encodes the part, so that new packets hold the same samples as the old ones in their places. */
async function encode(part: PartJob, old: Coding, primingSamples: number): Promise<NewCoding> {
  const { span } = part.part
  const { encoding, input, scratch, track } = part.job
  const { from: first, to: last } = encodedSpan(span)
  const [before] = await old.read(span.from, span.from + 1)
  const like = { ...encoding, options: [...encoding.options, ...settingsLike(input, before)] }
  const [path, samples] = [scratch(), old.startOf(1) - old.startOf(0)]
  const range = [old.startOf(first) + primingSamples, (last - first + 1) * samples] as const
  const run = await encodeSound(part, range, like, [{ path, skipSamples: 0 }])
  const { entry, count, read, close } = await openSide(path)
  return closedOnError(close, async () => {
    if (count <= last - first) throw new NoSplice('the encoder gave too few packets')
    const made: Coding = {
      ...{ first, end: first + count, startOf: old.startOf },
      read: (from, to) => read(from - first, to - first),
    }
    const [packet] = await made.read(span.from, span.from + 1)
    if (!isSameCoding({ entry: part.head.entry, packet: before }, { entry, packet })) {
      throw new NoSplice("the encoder's settings differ from those of the track")
    }
    return { made, ...jointsOf(span, track.packets.count), runs: [run], close }
  })
}

/** The places at both ends of a span, and outward from there. */
function jointsOf({ from, to }: PacketSpan, count: number) {
  const joint = (packet: number): Joint => ({ old: packet, made: packet })
  const moves = Array.from({ length: MOST_MOVES + 1 }, (_, move) => move)
  return {
    atStart: from <= MOST_MOVES ? joint(0) : null,
    atEnd: to + MOST_MOVES >= count - 1 ? joint(count) : null,
    left: moves.flatMap((move) => (from - move > 0 ? [joint(from - move)] : [])),
    right: moves.flatMap((move) => (to + move < count - 1 ? [joint(to + move + 1)] : [])),
  }
}

/** A frame of MP3 may need data that lies in those before it. */
async function closing({ job, part }: PartJob, made: Coding, packet: number): Promise<Buffer | null> {
  const { input, track } = job
  const [last] = (await made.read(packet, packet + 1)) as [Buffer]
  if (input.codec !== 'mp3' || packet === track.packets.count - 1) return last
  const old = await part.old.read(Math.max(0, packet + 1 - RESERVOIR_PACKETS), packet + 2)
  return carryReservoir(last, old.slice(0, -1), old.at(-1) as Buffer)
}
