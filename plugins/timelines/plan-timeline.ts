import { realpath, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, dirname } from 'node:path'
import PQueue from 'p-queue'
import { type ErrorCode, PrecheckError, UsageError } from '../../src/core/errors.js'
import { isSameState, quickIdentity } from '../../src/core/file-identity.js'
import { probe } from '../../src/media/index.js'
import { likelyReceipt } from '../../src/pipeline/output/existing-output.js'
import type { Limits } from '../../src/precheck/index.js'
import type { Bundle } from './bundles/bundle.js'
import { openBundle } from './bundles/open-bundle.js'
import { findMedia } from './media-search.js'
import { NoteTaker } from './note-taker.js'
import { outputsOf, type TimelineOutputs, withBundle } from './outputs.js'
import { planSource, type SourceMedia } from './plan-source.js'
import { loadTimeline, readTimeline, type TimelineFile } from './read-timeline.js'
import { listRate } from './time/edl-rate.js'
import { exactFrameRate } from './time/media-clock.js'
import { type Rational, rational } from './time/rational.js'
import type { Timeline, TimelineNote } from './timeline.js'
import type { PlannedSource, TimelinePlan, TimelineRequest } from './timeline-plan.js'
import { withoutExcluded } from './used-ranges.js'

const LEFT_BEHIND: readonly TimelineNote['kind'][] = [
  'missing-reference',
  'offline',
  'ambiguous',
  'outside',
  'nested-file',
  'unread',
]

/**
 * Reads a timeline, finds and probes its media, and plans a job for each file with the parts that are heard. Sends
 * and writes nothing.
 *
 * @throws {UsageError} if the timeline cannot be read or has no sound, or if none of its media exists
 * @throws {PrecheckError} `ERR_STRICT_TIMELINE` with `strict`, if any clip is left as it is
 */
export async function planTimeline(
  request: TimelineRequest,
  limits: Limits,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<TimelinePlan> {
  const file = await loadTimeline(request.input)
  await Promise.all(request.mediaRoots.map(requireFolder))
  // An edit decision list counts frames of a rate that it does not say; its files can be found without.
  const draft = readTimeline(file, request.frameRate ?? rational(25))
  const places = await outputsOf(request, file)
  const bundle = await openBundle(file, draft.sources, places.bundleFolder)
  try {
    return await planOpened(request, limits, { file, draft, bundle, outputs: withBundle(places, bundle) }, signal)
  } catch (error) {
    await bundle?.release()
    throw error
  }
}

async function planOpened(
  request: TimelineRequest,
  limits: Limits,
  opened: { file: TimelineFile; draft: Timeline; bundle: Bundle | null; outputs: TimelineOutputs },
  signal: AbortSignal | undefined,
): Promise<TimelinePlan> {
  const { file, draft, bundle, outputs } = opened
  const notes = new NoteTaker()
  const found = await findMedia(draft.sources, bundle?.folder ?? dirname(file.textPath), request.mediaRoots)
  const media = await mediaOf(found, { notes, force: request.settings.force, signal })
  // If none of a list's media is found, the error reports that, not an unknown rate.
  const isList = file.needsFrameRate && media.length > 0
  const rate = isList ? listRate(file, request.frameRate, media, notes) : (request.frameRate ?? pictureRate(media))
  const timeline = isList && rate ? readTimeline(file, rate) : draft
  for (const { kind, subject, message } of timeline.notes) notes.add(kind, subject, message)
  const uses = withoutExcluded(timeline, request.exclude, notes)
  const planned = await Promise.all(
    media.map((source) => planSource(source, uses, { request, limits, rate, notes, outputs, signal })),
  )
  const sources = planned.filter((source) => source !== undefined)
  requireWork(file, { plays: timeline.uses.length > 0, wanted: uses.length > 0 }, sources, notes.notes)
  if (request.settings.strict) refuseUnusable(file, notes.notes)
  const paid = sources.map(({ paidSec }) => paidSec)
  return {
    request,
    file,
    timeline,
    bundle,
    sources,
    output: outputs.timeline,
    clips: sum(sources.map((source) => source.uses.length)),
    usedSec: sum(sources.map(({ usedSec }) => usedSec)),
    shotSec: sum(sources.map((source) => source.media.durationSec ?? source.usedSec)),
    paidSec: paid.includes(null) ? null : sum(paid.map((sec) => sec ?? 0)),
    sendBytes: sum(sources.map(({ sendBytes }) => sendBytes)),
    notes: notes.notes,
  }
}

/** The files behind a timeline's sources, each once, in the timeline's order. */
async function mediaOf(
  sources: Awaited<ReturnType<typeof findMedia>>,
  { notes, force, signal }: { notes: NoteTaker; force: boolean; signal: AbortSignal | undefined },
): Promise<readonly SourceMedia[]> {
  const byPath = new Map<string, Omit<SourceMedia, 'media'>>()
  for (const [source, found] of sources) {
    switch (found.kind) {
      case 'found': {
        const original = await originalOf(found.path)
        if (original.kind === 'gone' && !force) {
          const why = `is an output of voxmux, and ${original.path}, from which it was made, is not there as it was`
          notes.add('offline', source.name, `${why}: its clips keep it as it is`)
          break
        }
        const path = original.kind === 'found' ? original.path : found.path
        const same = byPath.get(path) ?? { sources: [], made: undefined }
        const made = same.made ?? (original.kind === 'found' ? found.path : undefined)
        byPath.set(path, { sources: [...same.sources, source], made })
        break
      }
      case 'offline':
        notes.add('offline', source.name, 'is not found: its clips keep the old link')
        break
      case 'ambiguous':
        notes.add('ambiguous', source.name, `could be any of ${found.paths.join(', ')}: its clips keep the old link`)
        break
      case 'taken': {
        const whose = found.by === found.path ? 'other clips' : found.by
        notes.add(
          'offline',
          source.paths[0] ?? source.name,
          `is not found: ${found.path} has its name, but can be the file of ${whose}. Its clips keep the old link`,
        )
        break
      }
      default:
        found satisfies never
    }
  }
  const queue = new PQueue({ concurrency: Math.max(2, availableParallelism()) })
  return Promise.all(
    [...byPath].map(([path, same]) => queue.add(async () => ({ media: await probe(path, { signal }), ...same }))),
  )
}

function pictureRate(media: readonly SourceMedia[]): Rational | null {
  return media.map((source) => exactFrameRate(source.media)).find((rate) => rate !== undefined) ?? null
}

/** A mistyped root would only show as media that are not found. */
async function requireFolder(root: string): Promise<void> {
  const found = await stat(root).catch(() => undefined)
  if (found?.isDirectory()) return
  const what = found ? 'is not a folder' : 'does not exist'
  throw new UsageError('ERR_MEDIA_ROOT', `The media root ${root} ${what}.`, {
    input: root,
    remedies: ['Name the folder of the media with --media-root. A relative path starts at the working folder.'],
  })
}

function requireWork(
  { path }: TimelineFile,
  { plays, wanted }: { readonly plays: boolean; readonly wanted: boolean },
  sources: readonly PlannedSource[],
  notes: readonly TimelineNote[],
): void {
  if (sources.length > 0) return
  const name = basename(path)
  const said = notes.map(sentence).slice(0, 5)
  const fault = (code: ErrorCode, message: string, ...remedies: readonly string[]) =>
    new UsageError(code, message, { input: path, remedies })
  const withAudio = 'Export the timeline with its audio tracks.'
  if (!plays) throw fault('ERR_TIMELINE_SILENT', `${path} plays no sound of any file.`, withAudio, ...said)
  if (!wanted) {
    const less = 'Narrow --exclude, so that at least one clip is left to regenerate.'
    throw fault('ERR_TIMELINE_EXCLUDED', `Everything that ${name} plays is excluded.`, less)
  }
  const has = (...kinds: readonly TimelineNote['kind'][]) => notes.some(({ kind }) => kinds.includes(kind))
  if (has('offline', 'ambiguous')) {
    const where = 'Name the folder in which they lie: --media-root FOLDER.'
    throw fault('ERR_TIMELINE_OFFLINE', `None of the media that ${name} plays can be regenerated.`, where, ...said)
  }
  if (has('outside')) {
    const check = 'Check that they are the files that it was cut from: by their timecode or length they are not.'
    throw fault('ERR_TIMELINE_OUTSIDE', `The media of ${name} do not have the parts that it plays.`, check, ...said)
  }
  throw fault('ERR_TIMELINE_SILENT', `The media of ${name} have no sound.`, withAudio, ...said)
}

/** Clips that should have been regenerated and cannot be: `--strict` rejects them. */
function refuseUnusable({ path }: TimelineFile, notes: readonly TimelineNote[]): void {
  const left = notes.filter(({ kind }) => LEFT_BEHIND.includes(kind))
  if (left.length === 0) return
  throw new PrecheckError('ERR_STRICT_TIMELINE', `${path}: ${left.map(sentence).join(' ')}`, {
    input: path,
    remedies: ['Name their folder with --media-root, exclude them with --exclude, or leave --strict out.'],
  })
}

/** A note as people read it. */
export function sentence({ subject, message }: TimelineNote): string {
  return `${subject || 'A clip'} ${message}.`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** The file from which a media file of a timeline was made. */
type OriginalMedia =
  /** Any file that voxmux did not make. */
  | { readonly kind: 'itself' }
  | { readonly kind: 'found'; readonly path: string }
  /** The file that the receipt names is gone or has changed. */
  | { readonly kind: 'gone'; readonly path: string }

/**
 * Finds the file from which an output of voxmux was made. A cut over outputs is a second cut of the originals. No output
 * is regenerated again, and its other parts still hold the old sound. Makes cheap comparisons only.
 */
async function originalOf(path: string): Promise<OriginalMedia> {
  const receipt = await likelyReceipt(path)
  if (!receipt) return { kind: 'itself' }
  const { input } = receipt
  const isSame = isSameState(input, await quickIdentity(input.path).catch(() => undefined))
  return isSame ? { kind: 'found', path: await realpath(input.path) } : { kind: 'gone', path: input.path }
}
