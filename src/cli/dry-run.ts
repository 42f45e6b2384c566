import { type ExitCode, errorReport, overallExitCode, toVoxmuxError } from '../core/errors.js'
import { formatTime } from '../core/time.js'
import {
  cutCommand,
  type FfmpegCommand,
  ffmpegArguments,
  forecastVoice,
  type MuxPlan,
  muxCommand,
  planCuts,
  replacedStreams,
} from '../media/index.js'
import type { FileEvent } from '../pipeline/events.js'
import { cutRequests, type JobPlan, type PlanRequest, planJob } from '../pipeline/plan-job.js'
import { type Limits, refusalError } from '../precheck/index.js'
import type { CommandContext } from './command.js'
import { describeError } from './output/output.js'

/**
 * Shows what each job would do: verdicts, losses, seconds that would be paid for, bytes to send, and the exact ffmpeg
 * arguments. Cuts, sends and writes nothing.
 *
 * @returns 0, or the code with which the job would end before anything is sent
 */
export async function showPlans(
  requests: readonly PlanRequest[],
  limits: Limits,
  { output, signal }: CommandContext,
): Promise<ExitCode> {
  const files: FileEvent[] = []
  const codes: ExitCode[] = []
  for (const request of requests) {
    const file = {
      event: 'file',
      id: request.provisionalId,
      input: request.input,
      output: null,
      receipt: null,
    } as const
    try {
      const plan = await planJob(request, limits, { signal })
      output.event({ event: 'plan', id: file.id, input: file.input, ...planFacts(plan) })
      output.print(planText(plan))
      const refusal = refusalError(plan.media.path, plan.verdicts.asSent) ?? plan.strictRefusal
      if (refusal) throw refusal
      files.push({ ...file, status: 'skipped', error: null })
    } catch (thrown) {
      const error = toVoxmuxError(thrown, request.input)
      output.note(describeError(error))
      codes.push(error.exitCode)
      files.push({ ...file, status: error.exitCode === 5 ? 'rejected' : 'failed', error: errorReport(error) })
    }
  }
  for (const event of files) output.event({ ...event })
  const exitCode = overallExitCode(codes)
  output.result({ exitCode, files })
  return exitCode
}

function planFacts(plan: JobPlan) {
  const { media, output, verdicts, mux, notes, paidSec, sendBytes } = plan
  const streams = mux.streams.map(({ input, fate, outputIndex, reason }) => ({
    index: input.index,
    fate,
    outputIndex,
    reason,
  }))
  return {
    media,
    output,
    verdicts,
    losses: mux.losses,
    streams,
    notes,
    paidSec,
    sendBytes,
    ffmpeg: commands(plan),
  }
}

/** Where the cuts and the part file would lie; they have other names at every run. */
const WORK_FOLDER = '/WORK'

function commands({ media, mux, ...plan }: JobPlan): readonly (readonly string[])[] {
  const cuts = planCuts(media, cutRequests({ media, mux, ...plan }, WORK_FOLDER))
  return [cutCommand(media, cuts), ...muxPreview(mux)].map(ffmpegArguments)
}

/** The mux with what only the voices that came back will tell left at its usual value. */
function muxPreview(plan: MuxPlan): readonly FfmpegCommand[] {
  const previews = replacedStreams(plan).map((stream) => forecastVoice(plan, stream))
  const voices = previews.map(({ voice }) => voice)
  return [
    ...previews.flatMap(({ commands }) => commands),
    muxCommand(plan, { voices, partPath: `${WORK_FOLDER}/part`, fastStart: false, copiedOpusDelayMs: 0 }),
  ]
}

function planText(plan: JobPlan): string {
  const { media, output, verdicts, mux, notes, paidSec, sendBytes } = plan
  const price = paidSec === null ? 'its length is not known before it is cut' : formatTime(paidSec)
  return [
    `${media.path} → ${output}`,
    `  to pay for  ${price}`,
    `  to send     at most ${(sendBytes / 1e6).toFixed(1)} MB`,
    ...verdicts.asSent.map(({ severity, errorCode, message }) => `  ${severity.padEnd(10)}  ${errorCode}: ${message}`),
    ...mux.losses.map(({ what, reason }) => `  lost        ${what}: ${reason}`),
    ...notes.map((note) => `  note        ${note}`),
    ...commands(plan).map((args) => `  ffmpeg      ${args.map(quoted).join(' ')}`),
  ].join('\n')
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}
