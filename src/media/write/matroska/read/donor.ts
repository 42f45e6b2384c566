import { stat } from 'node:fs/promises'
import { MalformedFile } from '../../../probe/malformed-file.js'
import { ID } from '../../../probe/matroska/ids.js'
import { withChannels } from '../../encode/audio-encoding.js'
import { encoderPriming } from '../../encode/encoder-priming.js'
import type { WantedTrack } from '../../writer.js'
import type { BlockList } from './block-list.js'
import { floatIn } from './element.js'
import { elementsIn, type MatroskaFile, readMatroska } from './matroska-file.js'
import type { TrackEntry } from './track-entry.js'

/** The packets of a newly encoded voice, in a side file of the same format. */
export interface MatroskaDonor {
  readonly entry: TrackEntry
  readonly packets: BlockList
  readonly bytes: number
  /** Samples that the encoder adds before the voice, which the entry states. */
  readonly primingSamples: number
  /** Samples in a packet; null if they differ. */
  readonly packetSamples: number | null
  /** Start of a packet in seconds from the first with sound; the place after the last gives the end. */
  readonly startSec: (packet: number) => number
  /** ffmpeg's encoder; null if they are the packets of the old track, some of them replaced: all its times stay. */
  readonly encoder: string | null
}

/** Samples in a packet of common codecs. */
const USUAL_SAMPLES = [960, 1024, 1152, 1536, 2048, 576, 480, 240, 120, 1920, 2880, 4096, 4608]
/** Times in the side file are rounded to ms: two of them differ from the truth by less than this. */
const ROUNDING_SEC = 0.001_01

/** Reads a side file that ffmpeg wrote. @throws MalformedFile if it has another structure */
export async function readMatroskaDonor(
  path: string,
  { encoding, input, channels }: WantedTrack,
  signal: AbortSignal | undefined,
): Promise<MatroskaDonor> {
  const file = await readMatroska(path, (await stat(path)).size)
  const [entry] = file.tracks
  const packets = entry && file.blocks.get(entry.number)
  if (!entry || !packets) throw new MalformedFile('it has no packets')
  const tickSec = file.tickNs / 1e9
  const rate = entry.sampleRate
  const offsetSec = (packet: number) => (packets.tick(packet) - packets.tick(0)) * tickSec
  const packetSamples = samplesInPackets(packets, offsetSec, rate)
  const exactSec = packetSamples === null ? offsetSec : (packet: number) => (packet * packetSamples) / rate
  const last = packets.count - 1
  const statedSec = statedLengthSec(file) - packets.tick(0) * tickSec
  let bytes = 0
  for (let packet = 0; packet <= last; packet++) bytes += packets.dataLength(packet)
  const wholeSec = exactSec(last) + (packetSamples ?? 0) / rate
  // The last packet may be shorter than the others.
  const endSec = statedSec > exactSec(last) && (packetSamples === null || statedSec < wholeSec) ? statedSec : wholeSec
  const isVorbis = encoding.codec === 'vorbis'
  const silentSec = isVorbis && last > 0 ? exactSec(1) : 0
  return {
    ...{ entry, packets, packetSamples, bytes, encoder: encoding.encoder },
    startSec: (packet) => (packet > last ? endSec : exactSec(packet)) - silentSec,
    primingSamples: isVorbis ? 0 : await encoderPriming(encoding, withChannels(input, channels), signal),
  }
}

/** End of the last packet by the head of the file; 0 if it does not say. */
function statedLengthSec(file: MatroskaFile): number {
  const [info] = elementsIn(file, ID.Info)
  return ((floatIn(info, ID.Duration) ?? 0) * file.tickNs) / 1e9
}

/** The number of samples in every packet that agrees with their rounded times. */
function samplesInPackets({ count }: BlockList, offsetSec: (packet: number) => number, rate: number): number | null {
  if (count < 2) return null
  const mean = Math.round((offsetSec(count - 1) / (count - 1)) * rate)
  const fits = (samples: number) => {
    for (let packet = 1; packet < count; packet++) {
      if (Math.abs((packet * samples) / rate - offsetSec(packet)) > ROUNDING_SEC) return false
    }
    return true
  }
  return [...USUAL_SAMPLES, mean].find(fits) ?? null
}
