import { rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Recipe } from '../../config/preset-schema.js'
import { linkedAbort } from '../../core/linked-abort.js'
import { syncFile } from '../../core/sync-folder.js'
import { measureEncoders, packetReading, verifyOrRewrite, writeOutput } from '../../media/index.js'
import type { WriteOptions } from '../../media/write/write-output.js'
import { type Limits, refusalError } from '../../precheck/index.js'
import type { PipelineContext } from '../context.js'
import { fileSha256, quickIdentity, valueSha256 } from '../file-identity.js'
import { assembleTrack } from '../output/assemble-track.js'
import { existingOutput } from '../output/existing-output.js'
import { requireWritableFolder } from '../output/part-file.js'
import { LOSSY_RESERVE_DB, MOST_ENCODED_AGAIN, missingReserveDb, peakNotes } from '../output/peak-reserve.js'
import type { Receipt } from '../output/receipt.js'
import { receiptOf } from '../output/receipt-of.js'
import { isSameThroughout, soundChanges } from '../output/sound-changes.js'
import { isCopyIfSame } from '../plan/copy-reason.js'
import { recipeHash } from '../plan/job-settings.js'
import { type JobPlan, type PlanRequest, planJob } from '../plan/plan-job.js'
import { rehearse } from '../plan/rehearse.js'
import { narrowPlan } from '../voice/narrow-plan.js'
import { type ObtainedVoices, obtainVoices } from '../voice/obtain-voices.js'
import { watchInput } from '../watched-input.js'
import { copiedOutput } from './copied-output.js'
import type { Attempt, JobKind, PlannedJob } from './job-life.js'
import type { AssembledOutput } from './publish-output.js'
import { requireCredentials, signPart } from './sign-part.js'
import { unchangedOutput } from './unchanged-output.js'
import { withProofs } from './with-proofs.js'

/** The regenerated audio of a file, and the SHA-256 of the input at the time of the cut. */
interface FileVoices extends ObtainedVoices {
  readonly inputSha256: string
  /** Null if ffmpeg writes the output and reads the packets then. */
  readonly packets: ReturnType<typeof packetReading>
}

/** A job on a local file: its voice is cut here, and the regenerated audio is written back into it. */
export function fileJob(request: PlanRequest, context: PipelineContext): JobKind {
  return {
    async plan(signal) {
      const limits = limitsOf(request, context)
      const plan = await context.slots.local.run(() => planJob(request, limits, { signal }), signal)
      return plannedFile(plan, request, context)
    },
  }
}

/** The limits of a job, with those of its settings. */
export function limitsOf({ settings }: PlanRequest, { limits }: PipelineContext): Limits {
  return { ...limits, requireVoice: settings.recipe.voice.requireVoice }
}

/** The job of a plan. */
export async function plannedFile(plan: JobPlan, request: PlanRequest, context: PipelineContext): Promise<PlannedJob> {
  const { settings, supersede = false } = request
  const { output, workBytes } = plan
  // Signing writes the file again.
  const outputBytes = (settings.signed ? 2 : 1) * plan.outputBytes
  const input = plan.media.path
  const recipe = recipeHash(settings, context.serviceIdentity)
  const identity = await quickIdentity(input)
  let rehearsal: Promise<void> | undefined
  const { sharedPath = (path: string) => path } = context
  return {
    ...{ input, output, outputBytes, workBytes, recipeHash: recipe, filePlan: plan, replaces: settings.force },
    key: valueSha256({ input: sharedPath(input), output: sharedPath(output), ...identity, recipe }),
    inputIdentity: { ...identity, sha256: null },
    existing(job, signal) {
      const wanted = { input, inputIdentity: identity, output, recipeHash: recipe, replace: settings.force }
      return existingOutput({ ...wanted, supersede, signal }, job, context.jobs)
    },
    async requireStartable(signal) {
      const refused = refusalError(input, plan.verdicts.asSent) ?? plan.strictRefusal
      if (refused) throw refused
      await requireCredentials(settings, context, {
        ...{ sizeBytes: plan.media.sizeBytes, container: plan.mux.container },
      })
      await requireWritableFolder(dirname(output))
      rehearsal ??= context.slots.local.run(() => rehearse(plan, signal), signal)
      await rehearsal
    },
    async obtain(attempt) {
      const { signal } = attempt
      const { controller, release } = linkedAbort(signal)
      const { workFolder } = attempt.bench
      const watched = await watchInput(input)
      try {
        const sent = await context.slots.local.run(
          () => narrowPlan(plan, request, limitsOf(request, context), signal),
          signal,
        )
        const { copyReason } = sent
        if (copyReason !== null) {
          const inputSha256 = await fileSha256(input, signal)
          const made = { settings, recipeHash: recipe, inputSha256, context, sent: null }
          return { assemble: () => copiedOutput(sent, [copyReason], attempt, made) }
        }
        // The mux reports the same fault.
        measureEncoders(sent.mux).catch(() => {})
        // Hashed during the cut, while the input's pages are in memory, so that the disk is read only once.
        const packets = packetReading(sent.mux)
        const [voices, inputSha256] = await Promise.all([
          obtainVoices(
            { plan: sent, settings, ...attempt, workFolder, beside: packets, signal: controller.signal },
            context,
          ),
          context.slots.local.run(() => fileSha256(input, controller.signal), controller.signal),
        ])
        const part = () =>
          assemblePart(sent, settings, { ...voices, inputSha256, packets }, attempt, { recipeHash: recipe, context })
        await watched.requireSame(inputSha256, signal)
        const assemble = async () => {
          const made = await context.slots.local.run(part, signal)
          await watched.requireSame(inputSha256, signal)
          return made
        }
        return {
          assemble: () =>
            assemble().catch(async (error: unknown) => {
              throw await watched.faultBehind(error)
            }),
        }
      } catch (error) {
        controller.abort(error)
        throw await watched.faultBehind(error)
      } finally {
        release()
      }
    },
  }
}

function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Loads the voice models only for jobs that ask for it. */
async function withBed(pieces: FileVoices['pieces'], bed: Recipe['bed'], signal: AbortSignal) {
  if (bed === 'keep') return pieces
  const { withLowerBeds } = await import('../output/lower-beds.js')
  return withLowerBeds(pieces, signal)
}

/** The parts whose packets are joined with others, or why none are. */
type Joints = Pick<WriteOptions, 'changed'> | Pick<WriteOptions, 'unjoined'>

/** Writes the part file, verifies it, and builds the receipt. */
async function assemblePart(
  plan: JobPlan,
  settings: PlanRequest['settings'],
  obtained: FileVoices,
  attempt: Attempt,
  { recipeHash, context }: { readonly recipeHash: string; readonly context: PipelineContext },
): Promise<AssembledOutput> {
  const { bench, signal, onProgress, job } = attempt
  const { part, workFolder } = bench
  const { recipe } = settings
  const voices = { ...obtained, pieces: await withBed(obtained.pieces, recipe.bed, signal) }
  const share = recipe.mix / 100
  const mayCopy = isCopyIfSame(plan.media, plan.tracks, settings, plan.mux)
  if (mayCopy && (await isSameThroughout(voices.pieces, { share, signal })))
    return unchangedOutput(plan, voices, attempt, { settings, recipeHash, inputSha256: obtained.inputSha256, context })
  const assemble = (reserveDb: number) =>
    Promise.all(
      plan.tracks.map((track) => {
        const own = voices.pieces.filter((piece) => piece.plan.audioIndex === track.stream.audioIndex)
        return assembleTrack(plan, track, own, { recipe, reserveDb, signal })
      }),
    )
  let reserveDb = LOSSY_RESERVE_DB
  let missingDb = 0
  let tracks = await assemble(reserveDb)
  onProgress('splice', 100)
  const changed = new Map(tracks.flatMap(({ audioIndex, changed: own }) => (own ? [[audioIndex, own] as const] : [])))
  let credentials: Receipt['credentials'] = null
  const writeOnce = (joints: Joints) =>
    writeOutput(plan.mux, new Map(tracks.map(({ audioIndex, stream }) => [audioIndex, stream])), part, {
      ...{ signal, workFolder, ...joints },
      packetFacts: voices.packets?.facts(),
      onProgressSec: (sec) => onProgress('mux', (100 * sec) / (plan.media.durationSec ?? sec)),
    })
  const write = async (joints: Joints) => {
    let written = await writeOnce(joints)
    for (let again = 0; ; again++) {
      missingDb = await missingReserveDb(plan, recipe.loudness, part, signal)
      if (missingDb === 0 || again === MOST_ENCODED_AGAIN) break
      reserveDb += missingDb
      tracks = await assemble(reserveDb)
      await rm(part, { force: true })
      written = await writeOnce(joints)
    }
    const { inputSha256, pieces } = voices
    credentials = await signPart(plan, { settings, recipeHash, inputSha256, pieces, context }, { bench, signal })
    return written
  }
  const [written, changes] = await Promise.all([write({ changed }), soundChanges(voices.pieces, { share, signal })])
  onProgress('mux', 100)
  const options = { level: recipe.verify, signal }
  const [{ muxed, verification }, hash] = await Promise.all([
    verifyOrRewrite(plan.mux, written, part, options, (unjoined) => write({ unjoined })),
    // A part file that is written once more is gone in between.
    fileSha256(part, signal).catch(() => undefined),
    // Beside the verification, which reads from memory. Publishing syncs what is left.
    syncFile(part).catch(ignoreGone),
  ])
  const sha256 = muxed === written && hash ? hash : await fileSha256(part, signal)
  onProgress('verify', 100)
  const { inputSha256 } = voices
  const receipt = await receiptOf({
    ...{
      plan: { ...plan, notes: [...plan.notes, ...peakNotes(missingDb)] },
      settings,
      jobId: job.id,
      recipeHash,
      context,
      voices,
      changes,
      tracks,
      muxed,
      verification,
      inputSha256,
      credentials,
    },
    output: { path: plan.output, sizeBytes: (await stat(part)).size, sha256 },
  })
  return {
    receipt: await withProofs(receipt, settings, { bench, signal, before: plan.media }),
    inputIdentity: { ...(await quickIdentity(plan.media.path)), sha256: inputSha256 },
  }
}
