import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { JobFailedError, VoxmuxError } from '../../src/core/errors.js'
import { encodeAdts, probe } from '../../src/media/index.js'
import { AAC_FRAME_SAMPLES } from '../../src/media/write/encode/adts-frames.js'
import { FrameReader } from './frame-reader.js'
import type { PackageFolder } from './package-folder.js'
import type { programmeVoices } from './programme-voices.js'
import type { Rendition } from './read-package.js'
import { RewrittenFile } from './rewritten-file.js'
import { decodeRun, readResource, type SoundRun, soundRuns } from './sound-run.js'

/** The service's NotEnoughVoice. */
const NOT_ENOUGH_VOICE = -3

export interface RewriteOptions {
  readonly folder: PackageFolder
  /** Folder of the new package. */
  readonly target: string
  /** An empty folder for what is needed on the way, also by other renditions of the programme. */
  readonly workFolder: string
  readonly voiceOf: ReturnType<typeof programmeVoices>
  /** Called for a run without a voice, whose segments stay as they are. */
  readonly onVoiceless: (error: VoxmuxError) => void
  readonly signal?: AbortSignal | undefined
}

/** Bits a second of a rendition's segments. */
interface SegmentRates {
  readonly peak: number
  readonly mean: number
}

/** A rewritten rendition. */
export interface RewrittenRendition {
  readonly rendition: Rendition
  /** Lines of its playlist. */
  readonly lines: readonly string[]
  /** Files that hold its new segments, relative to the package; none if no run of it has a voice. */
  readonly files: readonly string[]
  /** As many as before. */
  readonly frameCount: number
  readonly durationSec: number
  /** True if another encoding of the same sound was regenerated, and paid for, in its place. */
  readonly isShared: boolean
  readonly before: SegmentRates
  readonly after: SegmentRates
}

/**
 * Gives a rendition's segments other sound: every frame is replaced by the one of the regenerated voice that holds
 * the same samples. Times, boundaries and everything else in the segments stay.
 *
 * @throws PrecheckError ERR_HLS_CODEC, ERR_HLS_SEGMENT, …; and what the regeneration throws
 */
export async function rewriteRendition(rendition: Rendition, options: RewriteOptions): Promise<RewrittenRendition> {
  const { folder, target } = options
  const files = new Map<string, RewrittenFile>()
  const changed = new Set<string>()
  const sizes: { before: number; after: number }[] = []
  let [frameCount, durationSec, isShared] = [0, 0, true]
  try {
    for (const [place, run] of (await soundRuns(folder, rendition)).entries()) {
      const facts = await regenerateRun(rendition, run, place, options)
      isShared &&= facts.isShared
      frameCount += facts.frameCount
      durationSec += (facts.frameCount * AAC_FRAME_SAMPLES) / facts.sampleRate
      const format = run.openFormat()
      const { made } = facts
      await using reader = made && (await FrameReader.open(made.path))
      await reader?.take(made?.leadFrames ?? 0)
      for (const segment of run.segments) {
        options.signal?.throwIfAborted()
        const old = await readResource(folder, rendition, segment)
        const bytes = reader ? format.withFrames(old, await reader.take(format.framesOf(old).length)) : old
        const path = folder.locate(segment.uri, rendition.path)
        if (reader) changed.add(path)
        const file = files.get(path) ?? (await RewrittenFile.open(await folder.file(path), join(target, path)))
        files.set(path, file)
        await file.replace(segment.range, bytes)
        sizes.push({ before: old.length, after: bytes.length })
      }
    }
    const lines = rewriteLines(rendition, (uri) => files.get(folder.locate(uri, rendition.path)))
    for (const file of files.values()) await file.finish()
    const rates = (when: 'before' | 'after') =>
      ratesOf(
        rendition,
        sizes.map((size) => size[when]),
      )
    if (changed.size === 0) await removeFiles([...files.keys()].map((path) => join(target, path)))
    const [before, after] = [rates('before'), rates('after')]
    return { rendition, lines, files: [...changed], frameCount, durationSec, isShared, before, after }
  } catch (error) {
    await Promise.allSettled([...files.values()].map((file) => file.close()))
    throw error
  }
}

/** Removes files that equal the old ones: these are copied with the rest of the package. Their folders go if empty. */
async function removeFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path)
  for (const folder of new Set(paths.map(dirname))) await rmdir(folder).catch(() => {})
}

/**
 * Encodes a run in one continuous run of the encoder.
 *
 * @returns facts about the run, and the new frames; null for these if it has no voice
 */
async function regenerateRun(
  rendition: Rendition,
  run: SoundRun,
  place: number,
  { folder, voiceOf, workFolder, onVoiceless, signal }: RewriteOptions,
) {
  const work = join(workFolder, `run-${place}`)
  const [frames, wave, voice] = [`${work}.aac`, `${work}.wav`, `${work}.regen.wav`]
  const facts = await decodeRun({ folder, rendition, run }, { frames, wave }, signal)
  const found = await voiceOf(rendition.group, place, wave, voice).catch((error: unknown) => {
    if (!(error instanceof VoxmuxError) || error.errorCode !== NOT_ENOUGH_VOICE) throw error
    onVoiceless(error)
    return null
  })
  if (found === null) return { ...facts, isShared: false, made: null }
  const [stream] = (await probe(found.path)).streams
  if (stream?.kind !== 'audio') throw new JobFailedError('ERR_HLS_FRAMES', `${found.path} holds no sound.`)
  const { sampleRate, bitRate, sampleCount } = facts
  const { delaySamples, isShared } = found
  const encoding = { sampleRate, bitRate, channels: stream.channels, delaySamples, sampleCount }
  const path = `${work}.new.aac`
  return { ...facts, isShared, made: { path, ...(await encodeAdts(found.path, path, encoding, { signal })) } }
}

/** The playlist's lines, with byte ranges where the new bytes lie. */
function rewriteLines({ playlist }: Rendition, fileOf: (uri: string) => RewrittenFile | undefined): readonly string[] {
  const lines = [...playlist.lines]
  for (const resource of playlist.segments.flatMap((segment) => [segment, ...(segment.map ? [segment.map] : [])])) {
    const { uri, range, rangeLine } = resource
    const moved = range && fileOf(uri)?.rangeOf(range)
    if (!moved || rangeLine === null) continue
    const text = `${moved.length}@${moved.offset}`
    const line = playlist.lines[rangeLine] as string
    lines[rangeLine] = line.startsWith('#EXT-X-MAP')
      ? line.replace(/BYTERANGE="[^"]*"/, `BYTERANGE="${text}"`)
      : `#EXT-X-BYTERANGE:${text}`
  }
  // The bit rate of each segment has changed, and players do not need it.
  return lines.filter((line) => !line.startsWith('#EXT-X-BITRATE:'))
}

function ratesOf({ playlist: { segments } }: Rendition, sizesBytes: readonly number[]): SegmentRates {
  const durations = segments.map(({ durationSec }) => Math.max(durationSec, 0.001))
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
  return {
    peak: Math.max(0, ...sizesBytes.map((size, place) => (size * 8) / (durations[place] as number))),
    mean: (total(sizesBytes) * 8) / Math.max(total(durations), 0.001),
  }
}
