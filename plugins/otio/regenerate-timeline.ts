import {
  errorReport,
  type FileEvent,
  type JobEvent,
  type JobOutcome,
  type PipelineContext,
  runJobs,
  type VoxmuxError,
} from 'voxmux'
import { relocateAddresses } from './relocate-addresses.js'
import type { RelinkedMedia } from './timeline.js'
import type { TimelinePlan } from './timeline-plan.js'
import { verifyRelinked } from './verify-relinked.js'
import { type NewTimeline, relocationOf, standsAlready, writeTimeline } from './write-timeline.js'

export interface RegenerateOptions {
  /** Files that are worked on at the same time. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: JobEvent) => void) | undefined
}

/** How a timeline ended. */
export interface TimelineOutcome {
  /** Of the timeline itself: its output is the new one. */
  readonly event: FileEvent
  /** Of each file, in the order of the plan. */
  readonly files: readonly JobOutcome[]
}

/**
 * Regenerates what a planned timeline uses, one job a file, and then writes the new timeline: only where every job
 * is done, so that it never points at what is not there. What was done before is skipped, and the same timeline again
 * is not written twice.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` before anything is sent; VerificationError `ERR_TIMELINE_CHANGED`
 */
export async function regenerateTimeline(
  plan: TimelinePlan,
  context: PipelineContext,
  { concurrency, signal, onEvent }: RegenerateOptions,
): Promise<TimelineOutcome> {
  const media = relinkedMedia(plan)
  const made: NewTimeline = {
    file: plan.file,
    output: plan.output,
    text: textOf(plan, media),
    replace: plan.request.settings.force,
  }
  const isThere = await standsAlready(made)
  const requests = plan.sources.map(({ request }) => request)
  const files = await runJobs(requests, context, { concurrency, signal, onEvent })
  const left = files.find(({ event }) => event.status !== 'done' && event.status !== 'skipped')
  const end = (status: FileEvent['status'], error: VoxmuxError | null): TimelineOutcome => {
    const output = status === 'done' || status === 'skipped' ? plan.output : null
    const id = requests[0]?.provisionalId ?? plan.output
    const report = error && errorReport(error)
    const event = { event: 'file', id, input: plan.file.path, status, output, receipt: null, error: report } as const
    onEvent?.(event)
    return { event, files }
  }
  if (left) return end(left.event.status, left.error)
  await verifyRelinked(plan, made, media)
  if (isThere) return end('skipped', null)
  await writeTimeline(made)
  return end('done', null)
}

/** The timeline over the new files, for the folder that it goes to. */
function textOf({ timeline, file, output }: TimelinePlan, media: ReadonlyMap<string, RelinkedMedia>): string {
  return relocateAddresses(timeline.relink(media), file.extension, relocationOf(file, output))
}

/** The new files by the timeline's ids of the old ones. */
function relinkedMedia({ sources }: TimelinePlan): ReadonlyMap<string, RelinkedMedia> {
  return new Map(
    sources.flatMap(({ sourceIds, job, media }) =>
      sourceIds.map((id) => [id, { path: job.output, original: media.path }] as const),
    ),
  )
}
