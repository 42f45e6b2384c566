import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { readSamples } from '../../pcm/pcm-samples.js'
import { SourceWindow } from '../copy/source-window.js'
import { donorCommand } from '../encode-donor.js'
import type { BlockList } from '../matroska/read/block-list.js'
import { readMatroska } from '../matroska/read/matroska-file.js'
import type { DonorFormat } from '../writer.js'
import { carryReservoir } from './bit-reservoir.js'
import { jointHolds, monoOf, placeOf, probeOf, type Sound, type SoundProbe } from './measure-joint.js'
import { decodeRuns, packetsOfSide, type TrackHead } from './packet-sound.js'
import { isSameCoding, packetSamples, settingsLike } from './same-coding.js'
import { NoSplice, type SpliceJob } from './splice-job.js'
import { MOST_MOVES, type PacketSpan } from './splice-ranges.js'
import type { NewPacket, PacketSwap } from './spliced-packets.js'
import { type SoundWindow, windowSound } from './window-tap.js'

/** A span with the sound around it. */
export interface Part {
  readonly span: PacketSpan
  /** First and last packet that are encoded, lead-in and lead-out included. The first may be negative. */
  readonly first: number
  readonly last: number
  /** Sample of the clock at which packet 0 would play if every packet followed the one before, by the container. */
  readonly zeroSample: number
  /** Samples by which that may be wrong. */
  readonly reachSamples: number
  readonly window: SoundWindow
}

interface PartJob {
  readonly job: SpliceJob
  /** The input. */
  readonly file: FileHandle
  readonly head: TrackHead
  readonly part: Part
  readonly primingSamples: number
  /** Takes a new packet into the side file of the track, and returns its first byte there. */
  readonly keep: (packet: Buffer) => Promise<number>
}

interface SplicedPart {
  readonly swap: PacketSwap
  readonly probes: readonly SoundProbe[]
  readonly run: readonly string[]
}

/** The side file of a part, with any codec. Times begin at a second, so that none of them is negative. */
export const PART_FORMAT: DonorFormat = {
  muxer: 'matroska',
  options: ['-output_ts_offset', '1'],
  skipSamples: 0,
  sampleCount: null,
}

/** Packets decoded before those that are compared, until the decoder has settled. */
const SETTLING = 6
/** Packets compared behind the one in which both codings meet. */
const COMPARED = 3

/** Encodes one changed part, and finds the packets at which it joins the old ones. */
export async function splicePart(job: PartJob): Promise<SplicedPart> {
  const zeroSample = await measuredZero(job)
  const path = job.job.scratch()
  const run = await encodePart(job, zeroSample, path)
  const file = await open(path, 'r')
  try {
    const side = new SourceWindow(file, job.job.media.path, (await file.stat()).size)
    const packets = await madePackets(job, path, side)
    const made = (from: number, to: number) => newPackets(job, side, packets, from, to)
    const { from, to, probes } = await findJoints(job, zeroSample, made)
    return { swap: { from, packets: await keptPackets(job, made, from, to) }, probes, run }
  } finally {
    await file.close()
    // Many parts would otherwise fill the disk twice.
    for (const done of [path, job.part.window.path]) await rm(done, { force: true })
  }
}

/** Place of packet 0 on the clock: packets beside the part are decoded and found in the sound. */
async function measuredZero(part: PartJob): Promise<number> {
  const { span, zeroSample, reachSamples } = part.part
  const { channels } = part.job.voice.format
  const { count } = part.job.track.packets
  const samples = packetSamples(part.job.input)
  const beside = [
    { from: Math.max(1, span.from - MOST_MOVES - COMPARED), to: span.from },
    { from: span.to + 3, to: Math.min(count, span.to + MOST_MOVES) },
  ].filter(({ from, to }) => to - from > 1)
  const runs = beside.map(({ from, to }) => ({ begin: Math.max(0, from - SETTLING), compared: from, end: to }))
  const sounds = await decoded(part, await Promise.all(runs.map(({ begin, end }) => oldPackets(part, begin, end))))
  const found: number[] = []
  for (const [place, { begin, compared, end }] of runs.entries()) {
    const needle = monoOf((sounds[place] as readonly Sound[]).slice(compared - begin), channels)
    const at = zeroSample + compared * samples - reachSamples
    const hay = monoOf([await wantedSound(part, at, (end - compared) * samples + 2 * reachSamples)], channels)
    const lag = placeOf(needle, hay, reachSamples)
    if (lag === null) throw new NoSplice('the packets beside a regenerated part do not decode to its sound')
    found.push(zeroSample + lag)
  }
  const [zero] = found
  if (zero === undefined) throw new NoSplice('too little of the track is left beside a regenerated part')
  if (found.some((other) => other !== zero)) throw new NoSplice('the clock of the track jumps in a regenerated part')
  return zero
}

/** Encodes the part, so that new packets hold the same samples as the old ones in their places. */
async function encodePart(part: PartJob, zeroSample: number, path: string): Promise<readonly string[]> {
  const { first, last, span, window } = part.part
  const { voice, encoding, signal, input } = part.job
  const samples = packetSamples(input)
  const from = zeroSample + first * samples + part.primingSamples
  const sound = windowSound(window, voice.format, from, (last - first + 1) * samples)
  const [old] = await oldPackets(part, span.from, span.from + 1)
  const like = { ...encoding, options: [...encoding.options, ...settingsLike(input, old)] }
  const { args } = await runFfmpeg(donorCommand(sound.chunks(), sound, like, PART_FORMAT, path), {
    signal,
  })
  return args
}

/** The packets that the encoder gave. */
async function madePackets(part: PartJob, path: string, side: SourceWindow): Promise<BlockList> {
  const { first, last, span } = part.part
  const { entry, packets } = packetsOfSide(await readMatroska(path, (await stat(path)).size))
  if (!entry || !packets || packets.count <= last - first) throw new NoSplice('the encoder gave too few packets')
  const [old] = await oldPackets(part, span.from, span.from + 1)
  const [made] = await newPackets(part, side, packets, span.from, span.from + 1)
  if (!isSameCoding({ entry: part.head.entry, packet: old }, { entry, packet: made })) {
    throw new NoSplice("the encoder's settings differ from those of the track")
  }
  return packets
}

/** Packets that follow each other, and the part of them that is compared with the wanted sound. */
interface Trial {
  /** The packet that would be the first or last new one. */
  readonly packet: number
  readonly begin: number
  readonly compared: number
  readonly end: number
  readonly joined: readonly Buffer[]
  readonly coded: readonly Buffer[]
}

type Packets = (from: number, to: number) => Promise<readonly Buffer[]>

/** Moves both joints outward until both codings meet without an audible error. One process decodes every trial. */
async function findJoints(part: PartJob, zeroSample: number, made: Packets) {
  const { span } = part.part
  const { count } = part.job.track.packets
  const samples = packetSamples(part.job.input)
  const old: Packets = (from, to) => oldPackets(part, from, to)
  const trial = async (packet: number, meet: number, before: Packets, after: Packets): Promise<Trial> => {
    const [begin, end] = [Math.max(0, meet - SETTLING), Math.min(count, meet + COMPARED + 1)]
    const joined = [...(await before(begin, meet)), ...(await after(meet, end))]
    const compared = Math.max(begin === 0 ? 1 : begin, meet - 1)
    return { packet, begin, compared, end, joined, coded: await made(begin, end) }
  }
  const trials: { readonly left: Trial[]; readonly middle: Trial[]; readonly right: Trial[] } = {
    ...{ left: [], right: [] },
    middle: [await trial(0, Math.floor((span.from + span.to + 1) / 2), made, made)],
  }
  for (let moves = 0; moves <= MOST_MOVES; moves++) {
    const [from, to] = [span.from - moves, span.to + moves]
    if (from > 0) trials.left.push(await trial(from, from, old, made))
    const last = to < count - 1 ? await lastPacket(part, made, to) : null
    if (last) trials.right.push(await trial(to, to + 1, async (begin) => [...(await made(begin, to)), last], old))
  }
  const all = [...trials.left, ...trials.middle, ...trials.right]
  const sounds = await decoded(
    part,
    all.flatMap(({ joined, coded }) => [joined, coded]),
  )
  const probes: SoundProbe[] = []
  const first = async (wanted: readonly Trial[]): Promise<number | undefined> => {
    for (const own of wanted) {
      const { packet, begin, compared, end } = own
      const heard = (place: number) =>
        (sounds[2 * all.indexOf(own) + place] as readonly Sound[]).slice(compared - begin)
      const atSample = zeroSample + compared * samples
      const target: Sound[] = []
      for (let place = compared; place < end; place++) {
        target.push(await wantedSound(part, zeroSample + place * samples, samples))
      }
      if (!jointHolds(heard(0), heard(1), target)) continue
      probes.push(probeOf(atSample, heard(0), target, part.job.voice.format.channels))
      return packet
    }
    return undefined
  }
  const reachesStart = span.from <= MOST_MOVES
  const reachesEnd = span.to + MOST_MOVES >= count - 1
  const from = (await first(trials.left)) ?? (reachesStart ? 0 : undefined)
  const to = (await first(trials.right)) ?? (reachesEnd ? count - 1 : undefined)
  await first(trials.middle)
  if (from === undefined || to === undefined) {
    throw new NoSplice('old and new packets do not join without an audible error')
  }
  return { from, to, probes }
}

/** Keeps the new packets `from` to `to`, both included, one by one: a part can be long. */
async function keptPackets(part: PartJob, made: Packets, from: number, to: number) {
  const { job, file, keep } = part
  const { frameHead, packets: old } = job.track
  const sample = await readAt(file, old.start(from), old.length(from))
  const packets: NewPacket[] = []
  for (let packet = from; packet <= to; packet++) {
    const payload = (packet === to ? await lastPacket(part, made, to) : (await made(packet, packet + 1))[0]) as Buffer
    const bytes = frameHead ? Buffer.concat([frameHead(sample, payload.length), payload]) : payload
    packets.push({ start: await keep(bytes), length: bytes.length })
  }
  return packets
}

/** Old packets in which the data of the one behind them is looked for. */
const RESERVOIR_PACKETS = 32

/** The new packet before an old one, with all that this one needs; null if it cannot carry that. */
async function lastPacket(part: PartJob, made: Packets, packet: number): Promise<Buffer | null> {
  const { input, track } = part.job
  const [last] = (await made(packet, packet + 1)) as [Buffer]
  if (input.codec !== 'mp3' || packet === track.packets.count - 1) return last
  const old = await oldPackets(part, Math.max(0, packet + 1 - RESERVOIR_PACKETS), packet + 2)
  return carryReservoir(last, old.slice(0, -1), old.at(-1) as Buffer)
}

/** Samples of the clock as they should be, interleaved. */
async function wantedSound({ job, part }: PartJob, fromSample: number, sampleCount: number): Promise<Sound> {
  const { format } = job.voice
  const chunks: Buffer[] = []
  for await (const chunk of windowSound(part.window, format, fromSample, sampleCount).chunks()) chunks.push(chunk)
  return readSamples(Buffer.concat(chunks), format.sample)
}

async function decoded({ job, head }: PartJob, runs: readonly (readonly Buffer[])[]) {
  const { voice, input, signal } = job
  const sounds = await decodeRuns(head, runs, packetSamples(input) * voice.format.channels, signal)
  if (!sounds) throw new NoSplice('packets of the track do not decode one by one')
  return sounds
}

/** The old packets `from` to `to` (excluded), as a decoder takes them. */
async function oldPackets({ job, file }: PartJob, from: number, to: number): Promise<readonly Buffer[]> {
  const { start, length, headBytes } = job.track.packets
  const packets: Buffer[] = []
  for (let packet = from; packet < to; packet++) {
    packets.push(await readAt(file, start(packet) + headBytes, length(packet) - headBytes))
  }
  return packets
}

/** The new packets for the old ones `from` to `to` (excluded). */
async function newPackets({ part }: PartJob, side: SourceWindow, made: BlockList, from: number, to: number) {
  const packets: Buffer[] = []
  for (let packet = from; packet < to; packet++) {
    const place = packet - part.first
    const bytes = Buffer.allocUnsafe(made.dataLength(place))
    await side.read(bytes, made.dataStart(place))
    packets.push(bytes)
  }
  return packets
}
