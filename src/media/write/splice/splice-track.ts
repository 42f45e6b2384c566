import { type FileHandle, open } from 'node:fs/promises'
import { MalformedFile } from '../../probe/malformed-file.js'
import { OutputBlocks } from '../copy/output-blocks.js'
import { encoderPriming } from '../encode/encoder-priming.js'
import { evenPackets } from './even-packets.js'
import type { SoundProbe } from './measure-joint.js'
import { readTrackHead } from './packet-sound.js'
import type { PacketKind, Part } from './part-job.js'
import { NoSplice, type SpliceJob } from './splice-job.js'
import { type SplicedPart, splicePart } from './splice-part.js'
import { changedSpans, statedPacketAt } from './splice-ranges.js'
import type { PacketSwap } from './spliced-packets.js'
import { vorbisPackets } from './vorbis-packets.js'
import { tapWindows } from './window-tap.js'

/** New packets for some of the old ones, or the reason why the whole track must be encoded. */
type TrackSplice =
  | {
      readonly kind: 'spliced'
      readonly swaps: readonly PacketSwap[]
      /** At every joint and in the middle of every part. */
      readonly probes: readonly SoundProbe[]
      /** Exact arguments of each encoder. */
      readonly runs: readonly (readonly string[])[]
    }
  | { readonly kind: 'whole'; readonly reason: string }

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
    // ffmpeg writes a broken head if another packet than the first brings the settings of its decoder.
    if (error instanceof MalformedFile) return { kind: 'whole', reason: `its packets cannot be read: ${error.message}` }
    throw error
  } finally {
    await file.close()
  }
}

async function splice(job: SpliceJob, file: FileHandle): Promise<TrackSplice> {
  const { track, changed, voice, media, input, signal, scratch, donorPath } = job
  const { count } = track.packets
  const kind = await packetKind(job, file)
  const spans = changedSpans(changed, count, (sample) => statedPacketAt(job, sample), kind.mayMeet)
  if (spans.length === 0) throw new NoSplice('no packet of the track holds the regenerated parts')
  if (spans.some(({ from, to }) => from === 0 && to === count - 1)) {
    throw new NoSplice('the regenerated parts cover the track')
  }
  const parts: Part[] = []
  for (const span of spans) parts.push(await kind.partOf(span, file))
  const head = await readTrackHead(media, input, scratch(), signal)
  await tapWindows(
    voice,
    parts.map(({ window }) => window),
  )
  const done: SplicedPart[] = []
  const donor = await open(donorPath, 'wx', 0o600)
  const blocks = new OutputBlocks(donor, { signal })
  const keep = async (packet: Buffer) => {
    const start = blocks.at
    await blocks.put(packet)
    return start
  }
  try {
    for (const part of parts) done.push(await splicePart({ job, kind, file, head, part, keep }))
    await blocks.flush()
  } finally {
    await blocks.settle()
    await donor.close()
  }
  if (done.some(({ swap }, place) => swap.from <= (done[place - 1]?.swap.to ?? -1))) {
    throw new NoSplice('the joints of two regenerated parts lie between each other')
  }
  return {
    kind: 'spliced',
    swaps: done.map(({ swap }) => swap),
    probes: done.flatMap(({ probes }) => probes),
    runs: done.flatMap(({ runs }) => runs),
  }
}

async function packetKind(job: SpliceJob, file: FileHandle): Promise<PacketKind> {
  const { vorbis } = job.track
  if (vorbis) return vorbisPackets(job, vorbis)
  return evenPackets(job, file, await encoderPriming(job.encoding, job.voice.format, job.signal))
}
