import { open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { readAt } from '../../../core/read-at.js'
import { runFfmpeg, streamFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../../ffmpeg/input-safety.js'
import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import { valuesOf } from '../../pcm/pcm-samples.js'
import { ID } from '../../probe/matroska/ids.js'
import { KEYFRAME } from '../matroska/read/block-list.js'
import { makeElement, makeUint, makeVint } from '../matroska/read/make-ebml.js'
import { readMatroska } from '../matroska/read/matroska-file.js'
import type { TrackEntry } from '../matroska/read/track-entry.js'
import type { SamplesOf } from './coding.js'
import type { Interleaved } from './measure-joint.js'

/** The beginning of a Matroska file, up to its first packet, with one track. */
export interface TrackHead {
  readonly entry: TrackEntry
  readonly bytes: Buffer
}

/**
 * Reads the coding of a track into the head of a Matroska file, so that any of its packets can be decoded alone.
 *
 * @param path of a side file to use and remove
 */
export async function readTrackHead(
  media: MediaInfo,
  { index }: AudioStreamInfo,
  path: string,
  signal: AbortSignal | undefined,
): Promise<TrackHead> {
  const options = ['-map', `0:${index}`, '-c', 'copy', '-frames:a', '1', '-map_metadata', '-1']
  try {
    await runFfmpeg(
      {
        inputs: [{ url: fileUrl(media.path), options: safeInputOptions(media) }],
        outputs: [{ url: fileUrl(path), options: [...options, '-fflags', '+bitexact', '-f', 'matroska'] }],
      },
      { signal, input: media.path },
    )
    return await headOf(path)
  } finally {
    await rm(path, { force: true })
  }
}

/** A segment that ends with the file. */
const OPEN_SEGMENT = Buffer.from('18538067ff', 'hex')

async function headOf(path: string): Promise<TrackHead> {
  await using file = await open(path, 'r')
  const structure = await readMatroska(path, (await file.stat()).size)
  const entry = structure.tracks[0] as TrackEntry
  const needed = structure.parts.filter((part) => part.kind === 'element' && part.id === ID.Tracks)
  const parts = await Promise.all(needed.map(({ start, end }) => readAt(file, start, end - start)))
  return { entry, bytes: Buffer.concat([await readAt(file, 0, structure.segment.start), OPEN_SEGMENT, ...parts]) }
}

/** Times of packets do not matter to a decoder, but they must rise. */
const TICKS_A_PACKET = 100

interface PacketCoding {
  readonly head: TrackHead
  /** Samples that a decoder gives for each of all packets in order. */
  readonly samplesOf: SamplesOf
  readonly channels: number
}

/**
 * Decodes runs of packets, each run by itself but for its first packet, which lacks what comes before it.
 *
 * @returns by run, interleaved, from its second packet on; null if the decoder gives another number of samples
 */
export async function decodeRuns(
  runs: readonly (readonly Buffer[])[],
  { head, samplesOf, channels }: PacketCoding,
  signal: AbortSignal | undefined,
): Promise<readonly Interleaved[] | null> {
  const packets = runs.flat()
  // ffmpeg fails on a file without any.
  if (packets.length === 0) return runs.map(() => new Float32Array())
  const clusters = packets.map((packet, place) => {
    const lead = Buffer.from([0, 0, KEYFRAME])
    const block = makeElement(ID.SimpleBlock, Buffer.concat([makeVint(head.entry.number), lead, packet]))
    return makeElement(ID.Cluster, Buffer.concat([makeUint(ID.Timestamp, place * TICKS_A_PACKET), block]))
  })
  const file = Buffer.concat([head.bytes, ...clusters])
  const { stdout } = streamFfmpeg(
    {
      // The priming of an encoder is not to be skipped here.
      inputs: [
        { url: Readable.from([file], { objectMode: false }), options: ['-flags2', '+skip_manual', '-f', 'matroska'] },
      ],
      outputs: [{ url: 'pipe:1', options: ['-map', '0:a:0', '-c:a', 'pcm_f32le', '-f', 'f32le'] }],
    },
    { signal },
  )
  const values = valuesOf(await buffer(stdout), 'f32') as Float32Array
  const counts = samplesOf(packets)
  const surplus = values.length - channels * counts.reduce((sum, count) => sum + count, 0)
  // The first packet of Vorbis has no sound of its own. Newer versions of ffmpeg decode it all the same.
  if (surplus !== 0 && (counts[0] !== 0 || surplus < 0)) return null
  let packet = 0
  let at = surplus
  return runs.map((run) => {
    const from = at + channels * (counts[packet] as number)
    for (const end = packet + run.length; packet < end; packet++) at += channels * (counts[packet] as number)
    return values.subarray(from, at)
  })
}
