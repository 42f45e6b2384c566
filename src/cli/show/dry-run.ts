import pc from 'picocolors'
import type { Recipe } from '../../config/preset-schema.js'
import { type ExitCode, overallExitCode, toVoxmuxError } from '../../core/errors.js'
import { shellWord } from '../../core/shell-word.js'
import { visibleText } from '../../core/visible-text.js'
import {
  cutCommand,
  cutReadings,
  decodedFormat,
  donorCommands,
  type FfmpegCommand,
  ffmpegArguments,
  forecastVoice,
  hasIndexFirst,
  type MuxPlan,
  muxCommand,
  newStreams,
  PART_FORMAT,
  type PlannedCut,
  pcmFormatFor,
  planCuts,
  type SampleType,
  writingFacts,
} from '../../media/index.js'
import type { FileEvent } from '../../pipeline/events.js'
import { addressRefused } from '../../pipeline/job/check-file.js'
import { outcomeOfError } from '../../pipeline/job/job-outcome.js'
import { isPreviewOf } from '../../pipeline/job/kinds/preview-job.js'
import { voiceSample } from '../../pipeline/output/assemble-track.js'
import { ownReceipt } from '../../pipeline/output/existing-output.js'
import { requireFreeOutput } from '../../pipeline/output/require-free-output.js'
import { receiptPath } from '../../pipeline/plan/output-path.js'
import { planFacts } from '../../pipeline/plan/plan-facts.js'
import { cutRequests, type JobPlan, type PlanRequest, planJob } from '../../pipeline/plan/plan-job.js'
import type { TrackPlan } from '../../pipeline/plan/plan-tracks.js'
import type { Segment } from '../../pipeline/plan/segments.js'
import { planRefusal, pricedPlan } from '../../pipeline/voice/narrow-plan.js'
import { isWebAddress, shownInput } from '../../pipeline/web-address.js'
import type { Limits } from '../../precheck/index.js'
import type { CommandContext } from '../command.js'
import { fileLine } from '../output/file-line.js'
import { describeError } from '../output/output.js'
import { bedLine } from './bed-line.js'
import { partLines } from './part-lines.js'
import { priceWords, voiceSeconds } from './price-words.js'

interface ShowOptions {
  /** Shows people the rewritten structures and the ffmpeg commands too. */
  readonly verbose?: boolean | undefined
  /** The service is the embedded one, which costs nothing. */
  readonly isFree?: boolean | undefined
}

/**
 * Shows what each job would do: verdicts, what is kept and lost, seconds to pay for and bytes to send. The events have
 * the exact ffmpeg arguments. Cuts, sends and writes nothing.
 *
 * @returns 0, or the exit code of a job that would fail before sending
 */
export async function showPlans(
  requests: readonly PlanRequest[],
  limits: Limits,
  context: CommandContext,
  options: ShowOptions = {},
): Promise<ExitCode> {
  const { output } = context
  const files: FileEvent[] = []
  const codes: ExitCode[] = []
  for (const request of requests) {
    const id = request.provisionalId
    const input = shownInput(request.input)
    try {
      const shown = await showPlan(request, limits, context, options)
      files.push({ event: 'file', id, input, status: 'skipped', ...shown, error: null })
    } catch (thrown) {
      const error = toVoxmuxError(thrown, input)
      output.note(describeError(error))
      codes.push(error.exitCode)
      files.push(outcomeOfError({ id, input }, error).event)
    }
  }
  for (const event of files) output.event({ ...event })
  const exitCode = overallExitCode(codes)
  output.result({ exitCode, files })
  return exitCode
}

/**
 * Shows the plan of a job, or that it is done.
 *
 * @returns the output and the receipt of a job that is done
 * @throws the fault with which it would fail before sending
 */
async function showPlan(
  request: PlanRequest,
  limits: Limits,
  { cwd, output, signal }: CommandContext,
  { verbose = false, isFree = false }: ShowOptions,
): Promise<Pick<FileEvent, 'output' | 'receipt'>> {
  const { provisionalId: id, input, settings } = request
  const done = (path: string, receipt: string) => {
    const event = { event: 'file', id, input, status: 'skipped', output: path, receipt: null, error: null } as const
    output.note(fileLine(event, pc, cwd))
    return { output: path, receipt }
  }
  if (isWebAddress(input)) throw addressRefused(input)
  if (!settings.force && (await ownReceipt(input, signal))) return done(input, receiptPath(input))
  const planned = await planJob(request, limits, { signal })
  const isReplaced = settings.previewSec !== null && (await isPreviewOf(planned.output, planned.media.path, signal))
  const publishing = isReplaced ? { ...request, settings: { ...settings, force: true } } : request
  const [place] = await Promise.allSettled([requireFreeOutput(planned, publishing, signal)])
  if (place.status === 'fulfilled' && place.value.kind === 'done') return done(planned.output, place.value.receipt)
  const priced = await pricedPlan(planned, request, limits, signal)
  const plan = await withBedNote(priced, settings.recipe.bed, isFree, signal)
  const ffmpeg = await commands(plan, settings.recipe)
  output.event({ event: 'plan', id, input, ...planFacts(plan), ffmpeg })
  output.print(planText(plan, ffmpeg, { verbose, isFree, segments: settings.segments }))
  const refusal = planRefusal(plan)
  if (refusal) throw refusal
  if (place.status === 'rejected') throw place.reason
  return { output: null, receipt: null }
}

/** Adds a note if music plays under a voice that is sent, or if `--bed lower` has none to lower. */
async function withBedNote(plan: JobPlan, bed: Recipe['bed'], isFree: boolean, signal: AbortSignal): Promise<JobPlan> {
  const track = plan.tracks.find(({ pieces }) => pieces.length > 0)
  if (!track || planRefusal(plan)) return plan
  const { trackBedSec } = await import('../../pipeline/voice/map-track.js')
  const sec = await trackBedSec(plan.media, track.stream, signal)
  const note = sec === null ? null : bedLine(sec, bed, isFree)
  return note ? { ...plan, notes: [...plan.notes, note] } : plan
}

/** Placeholder for the work folder, whose name changes with every run. */
const WORK_FOLDER = '/WORK'

async function commands(plan: JobPlan, recipe: Recipe): Promise<readonly (readonly string[])[]> {
  if (plan.copyReason !== null) return []
  const cuts = planCuts(plan.media, cutRequests(plan, WORK_FOLDER))
  const reading = cutReadings(cuts).map((own) => cutCommand(plan.media, own))
  return [...reading, ...(await muxPreview(plan, cuts, recipe))].map(ffmpegArguments)
}

/** The mux command. Values that only the regenerated audio determines have their usual values. */
async function muxPreview(
  { mux: plan, tracks }: JobPlan,
  cuts: readonly PlannedCut[],
  recipe: Recipe,
): Promise<readonly FfmpegCommand[]> {
  const previews = newStreams(plan).map((stream) => {
    const track = tracks.find(({ stream: { index } }) => index === stream.input.index)
    const cut = cuts.find(({ stream: { index } }) => index === stream.input.index)
    return forecastVoice(plan, stream, usualSample(pcmFormatFor(stream.input).sample, track, cut, recipe))
  })
  const voices = previews.map(({ voice }) => voice)
  const { writing } = plan
  if (writing.kind === 'bytes') {
    return voices.flatMap(({ format, stream }, place) => {
      const isSpliced = plan.splicedTracks?.includes(stream.input.audioIndex)
      const donor = isSpliced ? PART_FORMAT : writing.donors[place]
      const sampleCount = plan.media.durationSec && Math.round(plan.media.durationSec * format.sampleRate)
      const path = `${WORK_FOLDER}/part.donor${place}`
      return donor ? donorCommands({ format, sampleCount }, { path, encoding: stream.encoding, donor }) : []
    })
  }
  const fastStart = await hasIndexFirst(plan.media)
  return [
    ...previews.flatMap(({ commands }) => commands),
    muxCommand(plan, { voices, partPath: `${WORK_FOLDER}/part`, fastStart, copiedOpusDelayMs: 0 }),
  ]
}

/** The usual sample type of regenerated audio: as sent, or the requested lossy type. */
function usualSample(
  own: SampleType,
  track: TrackPlan | undefined,
  cut: PlannedCut | undefined,
  recipe: Recipe,
): SampleType {
  const [piece, ...more] = track?.pieces ?? []
  const [range, ...others] = piece?.ranges ?? []
  const isInParts = more.length > 0 || others.length > 0 || range?.startSample !== 0 || range.endSample !== null
  if (!cut || isInParts) return own
  return voiceSample(own, [recipe.voice.outputType === 'lossless' ? decodedFormat(cut).sample : own], recipe)
}

function planText(
  plan: JobPlan,
  ffmpeg: readonly (readonly string[])[],
  { verbose, isFree, segments }: Required<ShowOptions> & { readonly segments: readonly Segment[] },
): string {
  const { media, output, verdicts, mux, copyReason, paidSec, sendBytes } = plan
  const notes = copyReason === null ? plan.notes : [...plan.notes, copyReason]
  return [
    `${media.path} → ${output}`,
    ...(isFree ? [`  voice       ${voiceSeconds(paidSec)}`] : []),
    ...partLines(plan, segments).map((part) => `  part        ${part}`),
    `  to pay for  ${priceWords(paidSec, isFree)}`,
    `  to send     at most ${(sendBytes / 1e6).toFixed(1)} MB`,
    ...verdicts.asSent.map(({ severity, errorCode, message }) => `  ${severity.padEnd(10)}  ${errorCode}: ${message}`),
    `  kept        ${keptWords(mux)}`,
    ...mux.losses.map(({ what, reason }) => `  lost        ${what}: ${reason}`),
    ...notes.map((note) => `  note        ${note}`),
    ...(verbose
      ? [...structureLines(mux), ...ffmpeg.map((args) => `  ffmpeg      ${args.map(shellWord).join(' ')}`)]
      : []),
  ]
    .map(visibleText)
    .join('\n')
}

/** The streams that are copied packet for packet, by kind. */
function keptWords({ streams }: MuxPlan): string {
  const counts = new Map<string, number>()
  for (const { fate, input } of streams)
    if (fate === 'copied') counts.set(input.kind, (counts.get(input.kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ') || 'there is nothing besides the voice'
}

/** The writer of the output, what it changes, and why earlier writers declined. */
function structureLines(mux: MuxPlan): readonly string[] {
  const { writer, census, declined } = writingFacts(mux)
  const changed = census?.filter(({ fate }) => fate === 'rewritten') ?? []
  return [
    `  writer      ${writer}`,
    ...declined.map((each) => `  skipped     ${each.writer}: ${each.reason}`),
    ...changed.map(({ path, reason }) => `  rewritten   ${path}: ${reason}`),
  ]
}
