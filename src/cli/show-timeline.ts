import type { TimelinePlan } from 'voxmux/plugins/otio'
import { type ExitCode, errorReport, overallExitCode } from '../core/errors.js'
import { formatTime } from '../core/time.js'
import type { FileEvent } from '../pipeline/events.js'
import { refusalError } from '../precheck/index.js'
import { describeError, type Output } from './output/output.js'

/**
 * Shows what a timeline would cost and do. Sends and writes nothing.
 *
 * @returns 0, or the code with which its files would be refused
 */
export function showTimeline(plan: TimelinePlan, output: Output): ExitCode {
  output.print(timelineText(plan))
  const refusals = plan.sources.map(({ job }) => refusalError(job.media.path, job.verdicts.asSent) ?? job.strictRefusal)
  const files = plan.sources.map(({ request, media }, index): FileEvent => {
    const error = refusals[index]
    if (error) output.note(describeError(error))
    const file = { event: 'file', id: request.provisionalId, input: media.path, output: null, receipt: null } as const
    return { ...file, status: error ? 'rejected' : 'skipped', error: error ? errorReport(error) : null }
  })
  for (const event of files) output.event({ ...event })
  const exitCode = overallExitCode(refusals.map((error) => error?.exitCode ?? 0))
  output.result({ exitCode, files })
  return exitCode
}

/** The plan of a timeline as an event. */
export function timelineEvent(plan: TimelinePlan) {
  const { request, output, clips, usedSec, shotSec, paidSec, sendBytes, notes } = plan
  return {
    event: 'timeline',
    input: request.input,
    output,
    ...{ clips, usedSec, shotSec, paidSec, sendBytes, notes },
    sources: plan.sources.map(({ media, job, usedSec, used, regenerated, sampleRate }) => ({
      input: media.path,
      output: job.output,
      usedSec,
      shotSec: media.durationSec,
      paidSec: job.paidSec,
      sampleRate,
      used,
      regenerated,
    })),
  }
}

/** The plan of a timeline for people. */
export function timelineText(plan: TimelinePlan): string {
  const { request, output, clips, sources, usedSec, shotSec, paidSec, sendBytes, notes } = plan
  const price = paidSec === null ? 'a length that is not known before it is cut' : formatTime(paidSec)
  return [
    `${request.input} → ${output}`,
    `  used        ${formatTime(usedSec)} of ${formatTime(shotSec)} shot: ${counted(clips, 'clip')} of ${counted(sources.length, 'file')}`,
    `  to pay for  ${price}, handles included`,
    `  to send     at most ${(sendBytes / 1e6).toFixed(1)} MB`,
    ...sources.map(
      ({ media, usedSec, regenerated, job }) =>
        `  file        ${media.path}: ${formatTime(usedSec)} in ${counted(regenerated.length, 'part')} → ${job.output}`,
    ),
    ...notes.map(({ subject, message }) => `  note        ${subject || 'A clip'} ${message}.`),
  ].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
