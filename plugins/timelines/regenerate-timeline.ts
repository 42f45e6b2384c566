import { stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { errorReport, VerificationError, type VoxmuxError } from '../../src/core/errors.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import type { FileEvent, JobEvent } from '../../src/pipeline/events.js'
import type { JobOutcome } from '../../src/pipeline/job/job-outcome.js'
import { runJobs } from '../../src/pipeline/job/run-jobs.js'
import { receiptPath } from '../../src/pipeline/plan/output-path.js'
import { requireOwnOutputs } from '../../src/pipeline/plan/own-outputs.js'
import { isInBundle, packedFile } from './bundles/bundle.js'
import { pathBeside } from './media-path.js'
import { readTimeline, type TimelineFile } from './read-timeline.js'
import { relocateAddresses } from './relocate-addresses.js'
import { type Rational, rational } from './time/rational.js'
import type { ClipUse, RelinkedMedia, Timeline, TimelineSource } from './timeline.js'
import type { TimelinePlan } from './timeline-plan.js'
import { writeTimelineReceipt } from './timeline-receipt.js'
import { type NewTimeline, relocationOf, timelineTarget, writeTimeline } from './write-timeline.js'

export interface RegenerateTimelineOptions {
  /** Files that are worked on at the same time. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: JobEvent) => void) | undefined
}

/** The service's NotEnoughVoice. */
const NOT_ENOUGH_VOICE = -3

/** How a timeline ended. */
export interface TimelineOutcome {
  /** Result of the timeline itself: its output is the new timeline. */
  readonly event: FileEvent
  /** Result of each file, in the order of the plan. */
  readonly files: readonly JobOutcome[]
}

/**
 * Regenerates the media that a planned timeline uses, one job per file, and then writes the new timeline. It writes
 * only if every job is done, so that the timeline never points at a missing file. Clips of a file without a voice keep
 * their original. Finished jobs are skipped, and an identical timeline is not written twice.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS`, `ERR_OUTPUT_IS_INPUT` before anything is sent; VerificationError `ERR_TIMELINE_CHANGED`
 */
export async function regenerateTimeline(
  planned: TimelinePlan,
  context: PipelineContext,
  { concurrency, signal, onEvent }: RegenerateTimelineOptions,
): Promise<TimelineOutcome> {
  await requireTimelineTarget(planned)
  const requests = planned.sources.map(({ request }) => request)
  await requireOwnOutputs(requests)
  const files = await runJobs(requests, context, { concurrency, signal, onEvent })
  const plan = { ...planned, sources: planned.sources.filter((_, place) => files[place]?.error === null) }
  // A timeline that plays no new file would be a copy.
  const left = files.find(({ error }) => error && (error.errorCode !== NOT_ENOUGH_VOICE || plan.sources.length === 0))
  const end = (status: FileEvent['status'], error: VoxmuxError | null): TimelineOutcome => {
    const output = status === 'done' || status === 'skipped' ? plan.output : null
    const id = requests[0]?.provisionalId ?? plan.output
    const report = error && errorReport(error)
    const receipt = output === null ? null : receiptPath(output)
    const event = { event: 'file', id, input: plan.file.path, status, output, receipt, error: report } as const
    onEvent?.(event)
    return { event, files }
  }
  if (left) return end(left.event.status, left.error)
  const media = relinkedMedia(plan)
  const made = newTimeline(plan, media)
  await verifyRelinked(plan, made, media)
  const place = await timelineTarget(made)
  if (place !== 'same') await writeTimeline(made)
  const newMedia = plan.sources.map(({ job }) => job.output)
  await writeTimelineReceipt(plan.file.path, plan.output, newMedia)
  return end(place === 'same' ? 'skipped' : 'done', null)
}

/** Requires that a run could write the new timeline, or would find it. @throws {UsageError} `ERR_OUTPUT_EXISTS` */
export async function requireTimelineTarget(plan: TimelinePlan): Promise<void> {
  await timelineTarget(newTimeline(plan, relinkedMedia(plan)))
}

function newTimeline(plan: TimelinePlan, media: ReadonlyMap<string, RelinkedMedia>): NewTimeline {
  const { file, output, request, bundle } = plan
  const added = [...media.values()].flatMap(({ path, packedName: name }) =>
    name === undefined ? [] : [{ name, path }],
  )
  // Each file once, however many of the timeline's sources it is.
  const distinct = [...new Map(added.map((packed) => [packed.name, packed])).values()]
  const requireSame = bundle?.requireSame ?? null
  return { file, output, text: textOf(plan, media), replace: request.settings.force, added: distinct, requireSame }
}

/** The text of the timeline that plays the new files, as seen from its folder. */
function textOf({ timeline, sources, file, output }: TimelinePlan, media: ReadonlyMap<string, RelinkedMedia>): string {
  const regenerated = new Set(sources.flatMap(({ uses }) => uses))
  return relocateAddresses(timeline.relink(media, regenerated), file.extension, relocationOf(file, output))
}

/** The new files by the timeline's ids of the old ones. */
function relinkedMedia({ sources, bundle, file, timeline }: TimelinePlan): ReadonlyMap<string, RelinkedMedia> {
  const pathsOf = new Map(timeline.sources.map(({ id, paths }) => [id, paths]))
  const folder = dirname(file.textPath)
  return new Map(
    sources.flatMap(({ sourceIds, job, media }) => {
      const packed = isInBundle(bundle, media.path) ? packedFile(bundle, media.path, job.output) : undefined
      const made = { path: job.output, original: media.path, packedName: packed?.name }
      return sourceIds.map((id) => {
        const relativePath = pathBeside(pathsOf.get(id) ?? [], folder, job.output)
        return [id, { ...made, relativePath }] as const
      })
    }),
  )
}

/**
 * Reads a new timeline back before it gets its name. It must play the same parts in the same order. Every new file
 * that it names must exist, because players such as melt exit with 0 for a missing file.
 *
 * @throws {VerificationError} `ERR_TIMELINE_CHANGED`
 */
async function verifyRelinked(
  { file, request }: TimelinePlan,
  { text, output }: NewTimeline,
  media: ReadonlyMap<string, RelinkedMedia>,
): Promise<void> {
  for (const { path } of media.values()) {
    const isThere = await stat(path).then(
      (found) => found.size > 0,
      () => false,
    )
    if (!isThere) throw changed(output, `${path} is not there`)
  }
  // The same rate for both: of a list that does not say its own, frames are compared.
  const rate = request.frameRate ?? rational(25)
  const before = readTimeline(file, rate)
  const again = readAgain({ ...file, text }, rate, output)
  if (JSON.stringify(rangesOf(before)) !== JSON.stringify(rangesOf(again))) {
    throw changed(output, 'it plays other parts than the old one')
  }
  const unnamed = [...media.values()].find((made) => !again.sources.some((source) => isNamed(source, made, output)))
  if (unnamed) throw changed(output, `it does not play ${unnamed.path}`)
}

function readAgain(file: TimelineFile, rate: Rational, output: string): Timeline {
  try {
    return readTimeline(file, rate)
  } catch (cause) {
    throw changed(output, 'it cannot be read back', cause)
  }
}

function isNamed({ name, paths }: TimelineSource, { path, packedName }: RelinkedMedia, output: string): boolean {
  if (packedName !== undefined) return paths.includes(packedName)
  const isSameName = [name, ...paths].some((written) => basename(written) === basename(path))
  return isSameName || paths.some((written) => resolve(dirname(output), written) === path)
}

/** Exact ranges in order, as text: BigInt has no JSON. */
function rangesOf({ uses }: Timeline): readonly string[] {
  return uses.map(({ range: { start, end } }: ClipUse) =>
    [start.numerator, start.denominator, end.numerator, end.denominator].join('/'),
  )
}

function changed(output: string, why: string, cause?: unknown): VerificationError {
  return new VerificationError('ERR_TIMELINE_CHANGED', `The new timeline ${output} is not published: ${why}.`, {
    cause,
    input: output,
    remedies: ['This is a defect of voxmux: please report it with the timeline. The new media are complete.'],
  })
}
