import { type FileHandle, open } from 'node:fs/promises'
import { OutputBlocks } from '../copy/output-blocks.js'
import { encoderPriming } from '../encode/encoder-priming.js'
import type { SoundProbe } from './measure-joint.js'
import { readTrackHead } from './packet-sound.js'
import { packetSamples } from './same-coding.js'
import { NoSplice, type SpliceJob } from './splice-job.js'
import { type Part, splicePart } from './splice-part.js'
import { changedSpans, LEAD_PACKETS, MOST_MOVES, type PacketSpan, TAIL_PACKETS } from './splice-ranges.js'
import type { PacketSwap } from './spliced-packets.js'
import { tapWindows } from './window-tap.js'

/** New packets for some of the old ones, or the reason why the whole track must be encoded. */
export type TrackSplice =
  | {
      readonly kind: 'spliced'
      readonly swaps: readonly PacketSwap[]
      /** At every joint and in the middle of every part. */
      readonly probes: readonly SoundProbe[]
      /** Exact arguments of each encoder. */
      readonly runs: readonly (readonly string[])[]
    }
  | { readonly kind: 'whole'; readonly reason: string }

/** Largest error of a time that a container rounds to ms. */
const ROUNDING_SEC = 0.0025
/** Packets by which a place on the clock may be wrong: some containers leave out a lead-in. */
const REACH_PACKETS = 2

/**
 * Encodes the changed parts of a track, each with a lead-in and a lead-out that are dropped, and finds joints with the
 * old packets. At each joint it decodes the joined packets and compares them with the wanted sound. Reads the voice once.
 */
export async function spliceTrack(job: SpliceJob): Promise<TrackSplice> {
  const file = await open(job.media.path, 'r')
  try {
    return await splice(job, file)
  } catch (error) {
    if (error instanceof NoSplice) return { kind: 'whole', reason: error.message }
    throw error
  } finally {
    await file.close()
  }
}

async function splice(job: SpliceJob, file: FileHandle): Promise<TrackSplice> {
  const { track, changed, voice, media, input, encoding, signal, scratch, donorPath } = job
  const { count } = track.packets
  const spans = changedSpans(changed, count, (sample) => packetAt(job, sample))
  if (spans.length === 0) throw new NoSplice('no packet of the track holds the regenerated parts')
  if (spans.some(({ from, to }) => from === 0 && to === count - 1)) {
    throw new NoSplice('the regenerated parts cover the track')
  }
  const primingSamples = await encoderPriming(encoding, voice.format, signal)
  const parts = spans.map((span) => partOf(job, span, primingSamples))
  const head = await readTrackHead(media, input, scratch(), signal)
  await tapWindows(
    voice,
    parts.map(({ window }) => window),
  )
  const done = []
  const donor = await open(donorPath, 'wx', 0o600)
  const blocks = new OutputBlocks(donor, { signal })
  const keep = async (packet: Buffer) => {
    const start = blocks.at
    await blocks.put(packet)
    return start
  }
  try {
    for (const part of parts) done.push(await splicePart({ job, file, head, part, primingSamples, keep }))
    await blocks.flush()
  } finally {
    await blocks.settle()
    await donor.close()
  }
  return {
    kind: 'spliced',
    swaps: done.map(({ swap }) => swap),
    probes: done.flatMap(({ probes }) => probes),
    runs: done.map(({ run }) => run),
  }
}

/** Sample of the clock at which a packet plays by its container. */
function statedSample({ track, input }: SpliceJob, packet: number): number {
  return Math.round(track.packets.startSec(packet) * input.sampleRate)
}

/** The last packet that plays by a sample; -1 before the first. */
function packetAt(job: SpliceJob, sample: number): number {
  let low = 0
  let high = job.track.packets.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (statedSample(job, middle) <= sample) low = middle + 1
    else high = middle
  }
  return low - 1
}

function partOf(job: SpliceJob, span: PacketSpan, primingSamples: number): Part {
  const { track, input, scratch } = job
  const samples = packetSamples(input)
  const first = span.from - MOST_MOVES - LEAD_PACKETS
  const last = span.to + MOST_MOVES + TAIL_PACKETS
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
  return { span, first, last, zeroSample, reachSamples, window: { path: scratch(), startSample, sampleCount } }
}
