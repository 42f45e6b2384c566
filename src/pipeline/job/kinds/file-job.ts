import { dirname } from 'node:path'
import { linkedAbort } from '../../../core/abort.js'
import { fileSha256, isSameState, type QuickIdentity, quickIdentity, valueSha256 } from '../../../core/file-identity.js'
import { measureEncoders, packetReading } from '../../../media/index.js'
import type { SampleRange } from '../../../media/voice-cut.js'
import type { Limits } from '../../../precheck/index.js'
import type { PipelineContext } from '../../context.js'
import { guardInput } from '../../input-guard.js'
import { existingOutput } from '../../output/existing-output.js'
import { filesBeside, requireFreeNames, requireReplaceableOutput } from '../../output/files-beside.js'
import { requireLargeDisk } from '../../output/free-space.js'
import { type Receipt, readReceipt } from '../../output/receipt.js'
import { requireWritableFolder } from '../../output/writable-folder.js'
import { recipeHash } from '../../plan/job-settings.js'
import { receiptPath } from '../../plan/output-path.js'
import { type JobPlan, type PlanRequest, planJob, planMedia } from '../../plan/plan-job.js'
import type { SentCuts } from '../../plan/plan-tracks.js'
import { rehearse } from '../../plan/rehearse.js'
import { narrowPlan, planRefusal } from '../../voice/narrow-plan.js'
import { obtainVoices } from '../../voice/obtain-voices.js'
import { assemblePart } from '../assembly/assemble-part.js'
import { copiedOutput } from '../assembly/copied-output.js'
import { requireCredentials } from '../assembly/sign-part.js'
import type { Attempt, JobKind, ObtainedAudio, PlannedJob } from '../job-life.js'
import { makerOf } from '../state-identity.js'

/** A job on a local file: its voice is cut here, and the regenerated audio is written back into it. */
export function fileJob(request: PlanRequest, context: PipelineContext): JobKind {
  return {
    async plan(signal) {
      const limits = limitsOf(request, context)
      return await context.slots.local.run(async () => {
        // Before it is read, so that the cut notices a file that is replaced from here on. The plan says if it is missing.
        const seen = await quickIdentity(request.input).catch(() => undefined)
        const plan = await planJob(request, limits, { signal })
        const sent = seen ? await sentBefore(plan, request, seen, context) : new Map()
        if (sent.size === 0) return plannedFile(plan, request, context, seen)
        const sparing = { ...request, sentBefore: sent }
        return plannedFile(await planMedia(plan.media, sparing, limits, { signal }), sparing, context, seen)
      }, signal)
    },
  }
}

/** The limits of a job, with those of its settings. */
export function limitsOf({ settings }: PlanRequest, { limits }: PipelineContext): Limits {
  return { ...limits, requireVoice: settings.recipe.voice.requireVoice }
}

/**
 * The job of a plan.
 *
 * @param seen state of the input before it was planned; by default the present one
 */
export async function plannedFile(
  plan: JobPlan,
  request: PlanRequest,
  context: PipelineContext,
  seen?: QuickIdentity,
): Promise<PlannedJob> {
  const { settings, supersede = false } = request
  const { output, workBytes } = plan
  // Signing writes the file again.
  const outputBytes = (settings.signed ? 2 : 1) * plan.outputBytes
  const input = plan.media.path
  const recipe = recipeHash(settings, context.serviceIdentity)
  const identity = seen ?? (await quickIdentity(input))
  let rehearsal: Promise<void> | undefined
  const { sharedPath = (path: string) => path } = context
  return {
    ...{ input, output, outputBytes, workBytes, recipeHash: recipe, filePlan: plan, replaces: settings.force },
    key: valueSha256({ input: sharedPath(input), output: sharedPath(output), ...identity, recipe }),
    inputIdentity: { ...identity, sha256: null },
    async existing(job, signal) {
      const made = await readReceipt(receiptPath(output))
      const maker = makerOf(made?.service.identity, context.serviceIdentity)
      const place = { input, inputIdentity: identity, output, replace: settings.force }
      const wanted = { ...place, recipeHash: recipeHash(settings, maker) }
      return existingOutput({ ...wanted, supersede, signal }, job, context.jobs)
    },
    async requireStartable(signal) {
      const refused = planRefusal(plan)
      if (refused) throw refused
      await requireCredentials(settings, context, {
        sizeBytes: plan.media.sizeBytes,
        container: plan.mux.container,
      })
      if (!settings.force) await requireFreeNames(output, filesBeside(settings))
      await requireWritableFolder(dirname(output))
      await requireReplaceableOutput(output, filesBeside(settings))
      await requireLargeDisk(plan)
      rehearsal ??= context.slots.local.run(() => rehearse(plan, signal), signal)
      await rehearsal
    },
    obtain: obtainFile.bind(null, plan, { request, recipeHash: recipe, context, identity }),
  }
}

/** The facts about a planned job that its steps need. */
interface FileFacts {
  readonly request: PlanRequest
  readonly recipeHash: string
  readonly context: PipelineContext
  /** State of the input when it was planned. */
  readonly identity: QuickIdentity
}

/** Has the voices of a file regenerated. Nothing is written into an output if the input changes meanwhile. */
async function obtainFile(
  plan: JobPlan,
  { request, recipeHash, context, identity }: FileFacts,
  attempt: Attempt,
): Promise<ObtainedAudio> {
  const { settings } = request
  const { local } = context.slots
  const { path } = plan.media
  const input = await guardInput(path, identity)
  const { controller, release } = linkedAbort(attempt.signal)
  const { signal } = controller
  try {
    const sent = await local.run(() => narrowPlan(plan, request, limitsOf(request, context), signal), signal)
    const { copyReason } = sent
    if (copyReason !== null) {
      const made = { settings, recipeHash, inputSha256: await fileSha256(path, signal), context, sent: null }
      return { assemble: () => copiedOutput(sent, [copyReason], attempt, made) }
    }
    // The mux reports the same fault.
    measureEncoders(sent.mux).catch(() => {})
    const packets = packetReading(sent.mux)
    const { workFolder } = attempt.bench
    const requireInput = () => input.requireSame(hashing, signal)
    const options = { ...attempt, plan: sent, settings, workFolder, beside: packets, signal, requireInput }
    const obtaining = obtainVoices(options, context)
    // Hashed during the cut, while the input's pages are in memory, so that the disk is read only once.
    const hashing = local.run(() => fileSha256(path, signal), signal)
    const [voices, inputSha256] = await Promise.all([obtaining, hashing])
    await input.requireSame(inputSha256, signal)
    const facts = { settings, recipeHash, inputSha256, context, voices, packets }
    const assemble = async () => {
      const made = await local.run(() => assemblePart(sent, facts, attempt), attempt.signal)
      await input.requireSame(inputSha256, attempt.signal)
      return made
    }
    return { assemble: () => assemble().catch(input.blame) }
  } catch (error) {
    controller.abort(error)
    return await input.blame(error)
  } finally {
    release()
  }
}

/**
 * The cuts that earlier jobs had regenerated of this state of a file, if the plan joins parts. Joined with another one,
 * a part that is paid for would be paid for again.
 *
 * @param identity state of the input
 */
async function sentBefore(
  { media, tracks }: JobPlan,
  { settings }: PlanRequest,
  identity: QuickIdentity,
  { jobs, serviceIdentity }: Pick<PipelineContext, 'jobs' | 'serviceIdentity'>,
): Promise<SentCuts> {
  const cuts = new Map<number, SampleRange[]>()
  const isJoined = tracks.some(({ pieces }) => pieces.some(({ ranges }) => ranges.length > 1))
  if (!isJoined) return cuts
  for (const { state } of await jobs.list({ input: media.path, statuses: ['done'] })) {
    const receipt = state.receipt as Receipt | undefined
    if (!receipt || !isSameState(receipt.input, identity)) continue
    const { service, voices } = receipt
    if (service.identity !== serviceIdentity || service.model !== settings.recipe.voice.model) continue
    for (const { audioIndex, startSample, endSample } of voices)
      cuts.set(audioIndex, [...(cuts.get(audioIndex) ?? []), { startSample, endSample }])
  }
  return cuts
}
