import type { PlannedSource, TimelinePlan } from '../../../plugins/timelines/index.js'
import { type ExitCode, overallExitCode, toVoxmuxError, type VoxmuxError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import { visibleText } from '../../core/visible-text.js'
import type { FileEvent } from '../../pipeline/events.js'
import { eventWithoutOutput, statusOf } from '../../pipeline/job/job-outcome.js'
import { requireFreeOutput } from '../../pipeline/output/require-free-output.js'
import { refusalError } from '../../precheck/index.js'
import { describeError, type Output } from '../output/output.js'
import { priceWords, voiceSeconds } from './price-words.js'

/** Shows which files of a timeline a run would refuse, and sends nothing. @returns 0, or their exit code */
export async function showFiles(plan: TimelinePlan, output: Output, signal: AbortSignal): Promise<ExitCode> {
  const refusals = await Promise.all(plan.sources.map((source) => refusalOf(source, signal)))
  const files = plan.sources.map(({ request, media }, index): FileEvent => {
    const error = refusals[index] ?? null
    if (error) output.note(describeError(error))
    const file = { id: request.provisionalId, input: media.path }
    return eventWithoutOutput(file, error ? statusOf(error) : 'skipped', error)
  })
  for (const event of files) output.event({ ...event })
  const exitCode = overallExitCode(refusals.map((error) => error?.exitCode ?? 0))
  output.result({ exitCode, files })
  return exitCode
}

async function refusalOf({ job, request }: PlannedSource, signal: AbortSignal): Promise<VoxmuxError | null> {
  const refusal = refusalError(job.media.path, job.verdicts.asSent) ?? job.strictRefusal
  if (refusal) return refusal
  const fault = (thrown: unknown) => toVoxmuxError(thrown, job.media.path)
  return requireFreeOutput(job, request, signal).then(() => null, fault)
}

/** Turns the plan of a timeline into an event. */
export function timelineEvent(plan: TimelinePlan) {
  const { request, output, clips, usedSec, shotSec, paidSec, sendBytes, notes } = plan
  return {
    event: 'timeline',
    input: request.input,
    output,
    clips,
    usedSec,
    shotSec,
    paidSec,
    sendBytes,
    notes,
    sources: plan.sources.map(({ media, job, usedSec, paidSec, used, regenerated, sampleRate }) => ({
      input: media.path,
      output: job.output,
      usedSec,
      shotSec: media.durationSec,
      paidSec,
      sampleRate,
      used,
      regenerated,
    })),
  }
}

/** Formats the plan of a timeline for people. @param isFree true if the embedded service regenerates it */
export function timelineText(plan: TimelinePlan, isFree: boolean): string {
  const { request, output, clips, sources, usedSec, shotSec, paidSec, sendBytes, notes } = plan
  return [
    `${request.input} → ${output}`,
    `  used        ${formatTime(usedSec)} of ${formatTime(shotSec)} shot: ${counted(clips, 'clip')} of ${counted(sources.length, 'file')}`,
    ...(isFree ? [`  voice       ${voiceSeconds(paidSec)}, handles included`] : []),
    `  to pay for  ${priceWords(paidSec, isFree, ', handles included')}`,
    `  to send     at most ${(sendBytes / 1e6).toFixed(1)} MB`,
    ...sources.map(
      ({ media, usedSec, regenerated, job }) =>
        `  file        ${media.path}: ${formatTime(usedSec)} in ${counted(regenerated.length, 'part')} → ${job.output}`,
    ),
    ...notes.map(({ subject, message }) => `  note        ${subject || 'A clip'} ${message}.`),
  ]
    .map(visibleText)
    .join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
