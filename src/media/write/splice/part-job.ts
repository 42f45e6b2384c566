import type { FileHandle } from 'node:fs/promises'
import { runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { readSamples } from '../../pcm/pcm-samples.js'
import type { AudioEncoding } from '../encode/audio-encoding.js'
import { donorCommand } from '../encode-donor.js'
import type { Coding, NewCoding, SamplesOf } from './coding.js'
import type { Interleaved } from './measure-joint.js'
import { readPacket } from './old-packets.js'
import type { TrackHead } from './packet-sound.js'
import { PART_FORMAT } from './side-packets.js'
import type { SpliceJob } from './splice-job.js'
import type { PacketSpan } from './splice-ranges.js'
import { type SoundWindow, windowSound } from './window-tap.js'

/** A span with the packets and the sound around it. */
export interface Part {
  readonly span: PacketSpan
  /** The old packets around the span at least, on the clock that the container states. */
  readonly old: Coding
  /** Samples by which that clock may be wrong. */
  readonly reachSamples: number
  readonly window: SoundWindow
}

export interface PartJob {
  readonly job: SpliceJob
  /** The input. */
  readonly file: FileHandle
  readonly kind: PacketKind
  readonly head: TrackHead
  readonly part: Part
  /** Takes a new packet into the side file of the track, and returns its first byte there. */
  readonly keep: (packet: Buffer) => Promise<number>
}

/** How a codec divides sound into packets, and how a part of them is encoded again. */
export interface PacketKind {
  /** Samples of its longest packets. Joints are looked for and measured in these steps. */
  readonly stepSamples: number
  readonly samplesOf: SamplesOf
  /** True if joints of a span could meet those of another one that begins at a packet. */
  readonly mayMeet: (span: PacketSpan, from: number) => boolean
  /** Lists the old packets around a span and the sound that they need. @throws {NoSplice} */
  readonly partOf: (span: PacketSpan, file: FileHandle) => Promise<Part>
  /** Encodes a part. @param old on the measured clock @throws {NoSplice} */
  readonly encode: (part: PartJob, old: Coding) => Promise<NewCoding>
  /** The new packet before an old one, with all that this one needs; null if it cannot carry that. */
  readonly closing?: (part: PartJob, made: Coding, packet: number) => Promise<Buffer | null>
}

/** The old packets `from` to `to` (excluded), as a decoder takes them. */
export async function oldPackets({ track }: SpliceJob, file: FileHandle, from: number, to: number): Promise<Buffer[]> {
  const { headBytes } = track.packets
  const packets: Buffer[] = []
  for (let packet = from; packet < to; packet++) {
    packets.push((await readPacket(file, track.packets, packet)).subarray(headBytes))
  }
  return packets
}

/** Samples of the clock as they should be, interleaved. */
export async function wantedSound(
  { job, part }: PartJob,
  fromSample: number,
  sampleCount: number,
): Promise<Interleaved> {
  const { format } = job.voice
  const buffers: Buffer[] = []
  for await (const buffer of windowSound(part.window, format, fromSample, sampleCount).buffers()) buffers.push(buffer)
  return readSamples(Buffer.concat(buffers), format.sample)
}

/**
 * Encodes samples of the clock into side files.
 *
 * @param files with the samples that each leaves out at the beginning
 * @returns the exact arguments
 */
export async function encodeSound(
  { job, part }: PartJob,
  [fromSample, sampleCount]: readonly [number, number],
  encoding: AudioEncoding,
  files: readonly { readonly path: string; readonly skipSamples: number }[],
): Promise<readonly string[]> {
  const sound = windowSound(part.window, job.voice.format, fromSample, sampleCount)
  const source = sound.buffers()
  const commands = files.map(({ path, skipSamples }) =>
    donorCommand(source, sound.format, { path, encoding, donor: { ...PART_FORMAT, skipSamples } }),
  )
  const outputs = commands.flatMap((command) => command.outputs)
  return (await runFfmpeg({ inputs: commands[0]?.inputs ?? [], outputs }, { signal: job.signal })).args
}
