import { rm } from 'node:fs/promises'
import { type Coding, type Joint, type NewCoding, packetAt } from './coding.js'
import { type Interleaved, jointHolds, lagOf, probeOf, type SoundProbe, weightedMono } from './measure-joint.js'
import { readPacket } from './old-packets.js'
import { decodeRuns } from './packet-sound.js'
import { type PartJob, wantedSound } from './part-job.js'
import { NoSplice } from './splice-job.js'
import { MOST_MOVES } from './splice-ranges.js'
import type { NewPacket, PacketSwap } from './spliced-packets.js'

/** New packets for a part, with its proofs. */
export interface SplicedPart {
  readonly swap: PacketSwap
  readonly probes: readonly SoundProbe[]
  readonly runs: readonly (readonly string[])[]
}

/** Steps decoded before those that are compared, until the decoder has settled. */
const SETTLING = 6
/** Steps compared behind the one in which both codings meet. */
const COMPARED = 3

/** Encodes one changed part, and finds the packets at which it joins the old ones. */
export async function splicePart(part: PartJob): Promise<SplicedPart> {
  const old = await measuredOld(part)
  const coding = await part.kind.encode(part, old)
  try {
    const { left, right, probes } = await findJoints(part, old, coding)
    const packets = await keptPackets(part, { old, made: coding.made }, { left, right })
    const surplusSamples = Math.max(0, coding.made.startOf(right.made) - old.startOf(right.old))
    return { swap: { from: left.old, to: right.old - 1, packets, surplusSamples }, probes, runs: coding.runs }
  } finally {
    await coding.close()
    await rm(part.part.window.path, { force: true })
  }
}

/** The old packets on the clock of the sound: some beside the part are decoded and found in it. */
async function measuredOld(part: PartJob): Promise<Coding> {
  const { span, old, reachSamples } = part.part
  const { channels } = part.job.voice.format
  const step = part.kind.stepSamples
  const [before, behind] = [old.startOf(span.from), old.startOf(span.to)]
  const beside = [
    [Math.max(old.startOf(old.first + 1), before - (MOST_MOVES + COMPARED) * step), before],
    [behind + 3 * step, Math.min(old.startOf(old.end), behind + MOST_MOVES * step)],
  ] as const
  const ranges = beside.filter(([from, to]) => to - from > step)
  const runs = await Promise.all(ranges.map(([from, to]) => runOf(part, old, from, packetAt(old, to - 1) + 1)))
  const sounds = await decoded(part, runs)
  const found = await Promise.all(
    ranges.map(async ([from, to], place) => {
      const needle = weightedMono(
        [heard(part, { run: runs[place] as Run, sound: sounds[place] as Interleaved }, from, to)],
        channels,
      )
      const length = to - from + 2 * reachSamples
      const hay = weightedMono([await wantedSound(part, from - reachSamples, length)], channels)
      const lag = lagOf(needle, hay, reachSamples)
      if (lag === null) throw new NoSplice('the packets beside a regenerated part do not decode to its sound')
      return lag
    }),
  )
  const [lag] = found
  if (lag === undefined) throw new NoSplice('too little of the track is left beside a regenerated part')
  if (found.some((other) => other !== lag)) throw new NoSplice('the clock of the track jumps in a regenerated part')
  return { ...old, startOf: (packet) => old.startOf(packet) + lag }
}

/** Packets to decode. */
interface Run {
  readonly packets: readonly Buffer[]
  /** Sample at which its second packet plays: the first one lacks what comes before it. */
  readonly startSample: number
}

/** The packets of a coding before `end` that give the samples from one on, behind those in which a decoder settles. */
async function runOf(part: PartJob, coding: Coding, fromSample: number, end: number): Promise<Run> {
  const begin = packetAt(coding, fromSample - SETTLING * part.kind.stepSamples)
  return { packets: await coding.read(begin, end), startSample: coding.startOf(begin + 1) }
}

interface DecodedRun {
  readonly run: Run
  readonly sound: Interleaved
}

/** Samples of a decoded run. */
function heard({ job }: PartJob, { run, sound }: DecodedRun, fromSample: number, toSample: number): Interleaved {
  const { channels } = job.voice.format
  return sound.subarray((fromSample - run.startSample) * channels, (toSample - run.startSample) * channels)
}

async function decoded({ job, head, kind }: PartJob, runs: readonly Run[]): Promise<readonly Interleaved[]> {
  const packets = runs.map((run) => run.packets)
  const sounds = await decodeRuns(
    packets,
    { head, samplesOf: kind.samplesOf, channels: job.voice.format.channels },
    job.signal,
  )
  if (!sounds) throw new NoSplice('packets of the track do not decode one by one')
  return sounds
}

/** Packets that follow each other, and the part of them that is compared with the wanted sound. */
interface Trial {
  readonly joint: Joint
  readonly fromSample: number
  /** Steps of the comparison. */
  readonly steps: number
  readonly joined: Run
  readonly coded: Run
}

/** Finds the joints at which both codings meet without an audible error. One process decodes every trial. */
async function findJoints(part: PartJob, old: Coding, coding: NewCoding) {
  const { made } = coding
  const { span } = part.part
  const inside = packetAt(made, Math.floor((old.startOf(span.from) + old.startOf(span.to + 1)) / 2))
  const tried = async (joints: readonly Joint[], before: Coding, behind: Coding) => {
    const trials: (Trial | null)[] = []
    // One after another: they read through the same window of a file.
    for (const joint of joints) trials.push(await trialOf(part, joint, { old, made, before, behind }))
    return trials
  }
  const trials = {
    left: await tried(coding.left, old, made),
    middle: await tried([{ old: inside, made: inside }], made, made),
    right: await tried(coding.right, made, old),
  }
  const all = [...trials.left, ...trials.middle, ...trials.right].flatMap((trial) => trial ?? [])
  const sounds = await decoded(
    part,
    all.flatMap(({ joined, coded }) => [joined, coded]),
  )
  const probes: SoundProbe[] = []
  const first = async (wanted: readonly (Trial | null)[]): Promise<Joint | undefined> => {
    for (const trial of wanted) {
      if (!trial) continue
      const place = 2 * all.indexOf(trial)
      const probe = await measured(part, trial, [sounds[place], sounds[place + 1]] as [Interleaved, Interleaved])
      if (!probe) continue
      probes.push(probe)
      return trial.joint
    }
    return undefined
  }
  const left = (await first(trials.left)) ?? coding.atStart
  const right = (await first(trials.right)) ?? coding.atEnd
  await first(trials.middle)
  if (!left || !right) throw new NoSplice('old and new packets do not join without an audible error')
  return { left, right, probes }
}

interface Codings {
  readonly old: Coding
  readonly made: Coding
  /** The coding of the packets before the joint, and of those behind it. */
  readonly before: Coding
  readonly behind: Coding
}

/** Null if the packet before the joint cannot carry what the one behind it needs. */
async function trialOf(part: PartJob, joint: Joint, { old, made, before, behind }: Codings): Promise<Trial | null> {
  const step = part.kind.stepSamples
  const end = before === old ? joint.old : joint.made
  const next = behind === old ? joint.old : joint.made
  const meet = behind.startOf(next)
  const toSample = Math.min(meet + (COMPARED + 1) * step, old.startOf(old.end), made.startOf(made.end))
  const lead = await runOf(part, before, meet - step, end)
  const closing = behind === old ? await closingPacket(part, made, end - 1) : lead.packets.at(-1)
  if (!closing) return null
  const tail = await behind.read(next, packetAt(behind, toSample - 1) + 1)
  const coded = await runOf(part, made, meet - step, packetAt(made, toSample - 1) + 1)
  const fromSample = Math.max(meet - step, lead.startSample, coded.startSample)
  return {
    ...{ joint, fromSample, coded, steps: Math.floor((toSample - fromSample) / step) },
    joined: { packets: [...lead.packets.slice(0, -1), closing, ...tail], startSample: lead.startSample },
  }
}

/** Compares a trial with the wanted sound; undefined if its joint does not hold. @param sounds joined and coded */
async function measured(part: PartJob, trial: Trial, [joined, coded]: readonly [Interleaved, Interleaved]) {
  const { fromSample, steps } = trial
  if (steps < 1) return undefined
  const step = part.kind.stepSamples
  const starts = Array.from({ length: steps }, (_, place) => fromSample + place * step)
  const stepsOf = (run: Run, sound: Interleaved) => starts.map((from) => heard(part, { run, sound }, from, from + step))
  const wanted: Interleaved[] = []
  for (const from of starts) wanted.push(await wantedSound(part, from, step))
  const made = stepsOf(trial.joined, joined)
  if (!jointHolds(made, stepsOf(trial.coded, coded), wanted)) return undefined
  return probeOf(fromSample, made, wanted, part.job.voice.format.channels)
}

/** Keeps the new packets between two joints one by one: a part can be long. */
async function keptPackets(
  part: PartJob,
  { old, made }: Pick<Codings, 'old' | 'made'>,
  { left, right }: { readonly left: Joint; readonly right: Joint },
) {
  const { job, file, keep } = part
  const { frameHead, packets: stored } = job.track
  const sample = await readPacket(file, stored, left.old)
  const packets: NewPacket[] = []
  for (let packet = left.made; packet < right.made; packet++) {
    const payload =
      (packet === right.made - 1 ? await closingPacket(part, made, packet) : null) ?? (await one(made, packet))
    const bytes = frameHead ? Buffer.concat([frameHead(sample, payload.length), payload]) : payload
    const beside = packet === left.made ? left.old : packetAt(old, made.startOf(packet))
    const behindSamples = made.startOf(packet) - old.startOf(beside)
    packets.push({ start: await keep(bytes), length: bytes.length, time: { packet: beside, behindSamples } })
  }
  return packets
}

async function one(coding: Coding, packet: number): Promise<Buffer> {
  return (await coding.read(packet, packet + 1))[0] as Buffer
}

/** The last new packet before an old one, with all that this one needs; null if it cannot carry that. */
async function closingPacket(part: PartJob, made: Coding, packet: number): Promise<Buffer | null> {
  return part.kind.closing ? part.kind.closing(part, made, packet) : one(made, packet)
}
