import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PrecheckError } from '../../src/core/errors.js'
import { makeFolder } from '../../src/core/make-folder.js'
import { decodeAdts } from '../../src/media/index.js'
import { AAC_FRAME_SAMPLES, formatOfFrame, notAacLc } from './audio-frames.js'
import type { PackageFolder } from './package-folder.js'
import type { HlsPackage, Rendition } from './read-package.js'
import type { AcceptSound } from './require-accepted.js'
import { readResource, runsOf, type SoundRun, writeFrames } from './sound-run.js'

interface ReplaceableOptions {
  /** Folder for temporary files, which are removed. */
  readonly workFolder: string
  /** The renditions that will be sent. */
  readonly sent: readonly Rendition[]
  readonly accept: AcceptSound
  readonly signal: AbortSignal | undefined
}

/**
 * Checks everything that will be copied or replaced before any of it is sent. Otherwise a fault in the last language
 * would only be found after the first is paid for.
 *
 * @throws PrecheckError ERR_HLS_FILE_MISSING, ERR_HLS_OUTSIDE, ERR_HLS_CODEC, ERR_HLS_SEGMENT, ERR_HLS_MUXED_AUDIO,
 *   ERR_HLS_ENCRYPTED, ERR_HLS_PLAYLIST; and what `accept` throws
 */
export async function requireReplaceable(
  { renditions, media }: HlsPackage,
  folder: PackageFolder,
  { workFolder, sent, accept, signal }: ReplaceableOptions,
): Promise<void> {
  for (const path of media.keys()) await folder.file(path)
  makeFolder(workFolder)
  for (const rendition of renditions) {
    requireOrder(folder, rendition)
    for (const run of await runsOf(folder, rendition)) {
      const frameCount = await requireFrames({ folder, rendition, run }, signal)
      const first = await requireFrameLength({ folder, rendition, run }, workFolder, signal)
      const durationSec = (frameCount * AAC_FRAME_SAMPLES) / first.sampleRate
      const keepsChannels = run.segments.some(({ map }) => map !== null)
      const sound = { path: rendition.path, durationSec, keepsChannels }
      if (sent.includes(rendition)) await accept(first.wave, sound, signal)
    }
  }
  await rm(workFolder, { recursive: true })
}

/** Each part of a file is played once, and from front to back. */
function requireOrder(folder: PackageFolder, { path, playlist }: Rendition): void {
  const ends = new Map<string, number>()
  for (const { uri, range } of playlist.segments) {
    const file = folder.locate(uri, path)
    if ((range?.offset ?? 0) < (ends.get(file) ?? 0)) {
      throw new PrecheckError('ERR_HLS_PLAYLIST', `${path} names parts of ${uri} twice, or from back to front.`, {
        input: path,
        remedies: ['Package the film again, with segments that are played once.'],
      })
    }
    ends.set(file, range ? range.offset + range.length : Number.POSITIVE_INFINITY)
  }
}

interface PackagedRun {
  readonly folder: PackageFolder
  readonly rendition: Rendition
  readonly run: SoundRun
}

/** Every segment is made of frames that can be replaced. @returns how many there are */
async function requireFrames(
  { folder, rendition, run }: PackagedRun,
  signal: AbortSignal | undefined,
): Promise<number> {
  const format = run.openFormat()
  let frameCount = 0
  for (const segment of run.segments) {
    signal?.throwIfAborted()
    const bytes = await readResource(folder, rendition, segment)
    try {
      const frames = format.framesOf(bytes)
      if (frames[0]) formatOfFrame(frames[0], rendition.path)
      frameCount += frames.length
    } catch (error) {
      throw error instanceof PrecheckError && error.code === 'ERR_HLS_SEGMENT' ? unreadable(segment.uri, error) : error
    }
  }
  return frameCount
}

function unreadable(uri: string, cause: PrecheckError): PrecheckError {
  const message = `${uri}: ${cause.message}`
  const remedies = ['Copy the package again, whole.']
  return new PrecheckError('ERR_HLS_SEGMENT', message, { input: cause.input, remedies, cause })
}

/**
 * Frames of HE-AAC hold twice the samples, and say in themselves alone that they do.
 *
 * @returns the sound of the first segment
 */
async function requireFrameLength(
  { folder, rendition, run }: PackagedRun,
  workFolder: string,
  signal: AbortSignal | undefined,
) {
  const path = join(workFolder, 'first.aac')
  const wave = `${path}.wav`
  const first = { ...run, segments: run.segments.slice(0, 1) }
  const { frameCount, sampleRate } = await writeFrames(folder, rendition, first, path)
  const sampleCount = await decodeAdts(path, wave, { signal })
  if (sampleCount !== frameCount * AAC_FRAME_SAMPLES) throw notAacLc(rendition.path)
  return { wave, sampleRate }
}
