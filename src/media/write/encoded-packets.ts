import type { VoxmuxError } from '../../core/errors.js'
import { runFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl } from '../ffmpeg/input-safety.js'
import type { PcmFormat } from '../pcm/pcm.js'
import type { AudioEncoding } from './encode/audio-encoding.js'
import { isRaw } from './encode-donor.js'
import type { MuxPlan } from './remux/mux-plan.js'
import { PacketTimes, packetsOutput, type StreamTimes } from './remux/packet-times.js'
import type { NewStream } from './remux/plan-streams.js'
import { HashLines, streamHashOutput } from './remux/stream-hash.js'
import type { DonorFormat } from './writer.js'

/** A new voice as ffmpeg reads it from its side file. */
export type EncodedPackets =
  | { readonly kind: 'packets'; readonly packets: StreamTimes }
  /** PCM: containers divide the same samples into other packets. The hash of all of them. */
  | { readonly kind: 'samples'; readonly hash: string }

/** How a new track is compared with its side file; null if ffmpeg may read them differently. */
export function encodedKind(
  writing: MuxPlan['writing'],
  { codec }: Pick<AudioEncoding, 'codec'>,
  donor: DonorFormat | undefined,
): EncodedPackets['kind'] | null {
  if (writing.kind === 'remux' || donor?.becomesOtherPackets) return null
  if (!codec.startsWith('pcm_')) return 'packets'
  // ffmpeg ends such samples by the edit list, whose clock is coarser than a sample.
  return writing.writer === 'iso-bmff' ? null : 'samples'
}

/** An edit list hides a packet, or not, by the rounding of its clock. Without it, ffmpeg reads each packet of an MP4. */
export const WITHOUT_EDITS: readonly string[] = ['-ignore_editlist', '1']

interface SideFileFacts extends Pick<NewStream, 'encoding'> {
  readonly donor: DonorFormat
  readonly format: PcmFormat
  readonly signal: AbortSignal | undefined
}

/** Reads the packets of a side file. Null if ffmpeg cannot: the output then is not compared with it. */
export async function readEncoded(
  path: string,
  kind: EncodedPackets['kind'],
  { encoding, donor, format, signal }: SideFileFacts,
): Promise<EncodedPackets | null> {
  const times = new PacketTimes()
  const hashes = new HashLines()
  const { codec } = encoding
  const sound = isRaw(donor) ? ['-ar', String(format.sampleRate), '-ac', String(format.channels)] : []
  const demuxer = DEMUXERS[donor.muxer] ?? donor.muxer
  const edits = demuxer === 'mov' ? WITHOUT_EDITS : []
  const options = ['-protocol_whitelist', 'file,pipe', '-f', demuxer, ...edits, ...sound, '-copyts']
  const same = { from: '', to: '' }
  const outputs =
    kind === 'packets' ? [packetsOutput(['0:0'])] : streamHashOutput([{ index: 0, codec, decodedAs: codec }], same)
  try {
    await runFfmpeg(
      { inputs: [{ url: fileUrl(path), options }], outputs },
      { signal, takeStderrLine: (line) => hashes.take(line), onFactLine: (line) => times.take(line) },
    )
  } catch (error) {
    if ((error as VoxmuxError).exitCode === 130) throw error
    return null
  }
  const [packets, hash] = [times.at(0), hashes.at(0)]
  if (hash !== undefined) return { kind: 'samples', hash }
  if (!packets || packets.contents.length === 0) return null
  return { kind: 'packets', packets: DROPS_TICKS.has(donor.muxer) ? inSamples(packets, format.sampleRate) : packets }
}

/**
 * Raw files whose frames ffmpeg counts in ticks of 90 kHz. It drops the rest of each: 0.7 ticks of a frame at 44.1 kHz, or
 * 2 ms in 9 s of sound.
 */
const DROPS_TICKS: ReadonlySet<string> = new Set(['ac3', 'eac3'])

/** The times of packets that have a whole number of samples each. */
function inSamples({ tickSec, pts, contents }: StreamTimes, sampleRate: number): StreamTimes {
  let samples = 0
  const times = pts.map((time, place) => {
    if (place > 0) samples += Math.round((time - (pts[place - 1] as number)) * tickSec * sampleRate)
    return samples
  })
  return { tickSec: 1 / sampleRate, pts: times, contents }
}

/** Names of ffmpeg's demuxers, if its muxers have another. */
const DEMUXERS: Readonly<Record<string, string>> = { mp4: 'mov', adts: 'aac', mp2: 'mp3', opus: 'ogg' }
