import { createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { PrecheckError } from '../../src/core/errors.js'
import { readAt } from '../../src/core/read-at.js'
import { decodeAdts } from '../../src/media/index.js'
import { AAC_FRAME_SAMPLES } from '../../src/media/write/encode/adts-frames.js'
import { SYNC } from '../../src/media/write/structure/transport-pids.js'
import {
  type AdtsFormat,
  brokenSegment,
  formatOfFrame,
  notAacLc,
  type SegmentFormat,
  sampleRateOf,
} from './audio-frames.js'
import { FragmentFormat } from './fragment-format.js'
import { soundOfInit } from './mp4-sound.js'
import type { PackageFolder } from './package-folder.js'
import type { MediaSegment, Resource } from './playlist.js'
import type { Rendition } from './read-package.js'
import { TransportFormat } from './transport-format.js'

/** The longest segment that is read as a whole: sound of 10 s has some 300 kB. */
const SEGMENT_MAX_BYTES = 256 * 1024 * 1024

/** Segments of a rendition between two discontinuities: one encoder, one clock. */
export interface SoundRun {
  readonly segments: readonly MediaSegment[]
  /** A new one for each time the segments are gone through. */
  readonly openFormat: () => SegmentFormat
}

/** Splits a rendition where its clock or its initialization section changes. */
export async function soundRuns(folder: PackageFolder, rendition: Rendition): Promise<readonly SoundRun[]> {
  const { segments } = rendition.playlist
  const groups: MediaSegment[][] = []
  for (const segment of segments) {
    const last = groups.at(-1)
    if (last && last[0]?.run === segment.run && last[0]?.map === segment.map) last.push(segment)
    else groups.push([segment])
  }
  return Promise.all(
    groups.map(async (group) => ({
      segments: group,
      openFormat: await formatOf(folder, rendition, group[0] as MediaSegment),
    })),
  )
}

/** A run, and the package that it belongs to. */
export interface PackagedRun {
  readonly folder: PackageFolder
  readonly rendition: Rendition
  readonly run: SoundRun
}

/**
 * Writes all frames of a run into one file, and decodes them into another.
 *
 * @returns findings about them; the bit rate leaves the headers out
 * @throws PrecheckError ERR_HLS_CODEC, ERR_HLS_SEGMENT, ERR_UNREADABLE
 */
export async function decodeRun(
  packaged: PackagedRun,
  paths: { readonly frames: string; readonly wave: string },
  signal: AbortSignal | undefined,
) {
  const facts = await writeFrames(packaged, paths.frames)
  const sampleCount = await decodeAdts(paths.frames, paths.wave, { signal })
  const expected = facts.frameCount * AAC_FRAME_SAMPLES
  const { path } = packaged.rendition
  if (sampleCount < expected) throw brokenSegment(path, 'has frames that cannot be decoded')
  // Twice as many: HE-AAC, which says in its frames only that it is.
  if (sampleCount > expected) throw notAacLc(path)
  return { ...facts, sampleCount }
}

/** Writes all frames of a run into one file. @returns findings about them; the bit rate leaves the headers out */
async function writeFrames({ folder, rendition, run }: PackagedRun, path: string) {
  const codec = run.openFormat()
  let [frameCount, payloadBytes] = [0, 0]
  let format: AdtsFormat | null = null
  async function* frames() {
    for (const segment of run.segments) {
      for (const frame of codec.framesOf(await readResource(folder, rendition, segment))) {
        format ??= formatOfFrame(frame, rendition.path)
        frameCount += 1
        payloadBytes += frame.length - 7
        yield frame
      }
    }
  }
  await pipeline(Readable.from(frames(), { objectMode: true }), createWriteStream(path))
  if (format === null) throw notAacLc(rendition.path)
  const sampleRate = sampleRateOf(format)
  return { format, sampleRate, frameCount, bitRate: (payloadBytes * 8 * sampleRate) / (frameCount * AAC_FRAME_SAMPLES) }
}

/** Bytes of all segments of a rendition. */
export async function soundBytes(folder: PackageFolder, { path, playlist }: Rendition): Promise<number> {
  let bytes = 0
  for (const { uri, range } of playlist.segments) {
    bytes += range?.length ?? (await stat(await folder.file(folder.locate(uri, path)))).size
  }
  return bytes
}

/** Bytes of a segment or of an initialization section. */
export async function readResource(folder: PackageFolder, rendition: Rendition, resource: Resource): Promise<Buffer> {
  const path = folder.locate(resource.uri, rendition.path)
  await using file = await open(await folder.file(path), 'r')
  const { size } = await file.stat()
  const { offset, length } = resource.range ?? { offset: 0, length: size }
  if (offset + length > size || length > SEGMENT_MAX_BYTES) {
    throw new PrecheckError(
      'ERR_HLS_SEGMENT',
      `${path} has ${size} bytes, and the playlist names ${offset + length}.`,
      {
        input: path,
        remedies: ['Copy the complete package again.'],
      },
    )
  }
  return await readAt(file, offset, length)
}

async function formatOf(
  folder: PackageFolder,
  rendition: Rendition,
  first: MediaSegment,
): Promise<() => SegmentFormat> {
  if (first.map !== null) {
    const sound = soundOfInit(await readResource(folder, rendition, first.map), rendition.path)
    return () => new FragmentFormat(sound, rendition.path)
  }
  const [sync] = await readResource(folder, rendition, first)
  if (sync === SYNC) return () => new TransportFormat(rendition.path)
  throw new PrecheckError(
    'ERR_HLS_SEGMENT',
    `The segments of ${rendition.path} are neither MPEG-TS nor fragmented MP4.`,
    {
      input: rendition.path,
      remedies: ['Package the sound as MPEG-TS or fragmented MP4 (packed audio, .aac files, cannot be rewritten).'],
    },
  )
}
