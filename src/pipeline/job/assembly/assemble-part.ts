import { rm, stat } from 'node:fs/promises'
import type { Recipe } from '../../../config/preset-schema.js'
import { toVoxmuxError, type VoxmuxError } from '../../../core/errors.js'
import { fileSha256, quickIdentity } from '../../../core/file-identity.js'
import { syncFile } from '../../../core/sync-folder.js'
import { type packetReading, SIGNS_OLD_BYTES, verifyOrRewrite } from '../../../media/index.js'
import { peakNotes } from '../../output/peak-reserve.js'
import { receiptOf, segmentsOf, voiceFigures, voiceNotes, warningsOf } from '../../output/receipt-of.js'
import { isSameThroughout, soundChanges } from '../../output/sound-changes.js'
import { isCopyIfSame } from '../../plan/copy-reason.js'
import type { JobPlan } from '../../plan/plan-job.js'
import type { ObtainedVoices } from '../../voice/obtain-voices.js'
import type { Attempt } from '../job-life.js'
import type { AssembledOutput } from '../publish-output.js'
import { copiedOutput } from './copied-output.js'
import { PartWriter } from './part-writer.js'
import type { SigningFacts } from './sign-part.js'
import { withProofs } from './with-proofs.js'

const SAME = 'The regenerated audio was the same, so the output is a copy of the input.'

/** The facts about a job whose voices are obtained. */
interface AssemblyFacts extends Omit<SigningFacts, 'pieces'> {
  readonly voices: ObtainedVoices
  /** Null if ffmpeg writes the output and reads the packets then. */
  readonly packets: ReturnType<typeof packetReading>
}

/** Writes the part file, verifies it, and builds the receipt. */
export async function assemblePart(
  plan: JobPlan,
  { voices: obtained, packets, ...facts }: AssemblyFacts,
  attempt: Attempt,
): Promise<AssembledOutput> {
  const { signal } = attempt
  const { settings } = facts
  const { recipe } = settings
  const pieces = await withBed(obtained.pieces, recipe.bed, signal)
  const voices = { ...obtained, pieces }
  if (isCopyIfSame(plan, settings) && (await isSameThroughout(pieces, mixOf(settings, signal))))
    return unchangedOutput(plan, voices, attempt, facts)
  const writing = { ...facts, voices, packets }
  return verifiedOutput(plan, writing, attempt).catch(async (thrown) => {
    const fault = toVoxmuxError(thrown, plan.media.path)
    const instead = OF_WRITING.has(fault.code) ? await remuxInstead(plan, fault, settings.strict, signal) : null
    if (instead === null) throw thrown
    await rm(attempt.bench.part, { force: true })
    return verifiedOutput(instead, writing, attempt).catch((again) => {
      throw OF_WRITING.has(toVoxmuxError(again).code) ? thrown : again
    })
  })
}

/** Writes the part file as planned, verifies it, and builds the receipt. @throws faults of the writing */
async function verifiedOutput(
  plan: JobPlan,
  { voices, packets, ...facts }: AssemblyFacts,
  attempt: Attempt,
): Promise<AssembledOutput> {
  const { bench, signal, onProgress, job } = attempt
  const { settings, inputSha256 } = facts
  const { recipe } = settings
  const { pieces } = voices
  const writer = new PartWriter(plan, { ...facts, pieces }, attempt, () => packets?.facts())
  await writer.assemble()
  onProgress('splice', 100)
  const [written, changes] = await Promise.all([writer.writeJoined(), soundChanges(pieces, mixOf(settings, signal))])
  onProgress('mux', 100)
  const { part } = bench
  const [{ muxed, verification }, hash] = await Promise.all([
    verifyOrRewrite(plan.mux, written, part, {
      ...{ level: recipe.verify, signal },
      rewrite: (reason) => writer.writeWhole(reason),
    }),
    // A part file that is written once more is gone in between.
    fileSha256(part, signal).catch(() => undefined),
    // Beside the verification, which reads from memory. Publishing syncs what is left.
    syncFile(part).catch(ignoreGone),
  ])
  const sha256 = muxed === written && hash ? hash : await fileSha256(part, signal)
  onProgress('verify', 100)
  const { tracks, credentials, missingDb } = writer
  const receipt = await receiptOf({
    ...{ ...facts, voices, changes, tracks, muxed, verification, credentials },
    jobId: job.id,
    plan: { ...plan, notes: [...plan.notes, ...peakNotes(missingDb)] },
    output: { path: plan.output, sizeBytes: (await stat(part)).size, sha256 },
  })
  return {
    receipt: await withProofs(receipt, settings, plan.media, attempt),
    inputIdentity: { ...(await quickIdentity(plan.media.path)), sha256: inputSha256 },
  }
}

/** Faults that another writer may not have. It would meet those of the regenerated audio and of this machine, too. */
const OF_WRITING: ReadonlySet<string> = new Set([
  'ERR_VERIFY_FAILED',
  'ERR_ENCODER_OUTPUT',
  'ERR_CENSUS_BROKEN',
  'ERR_FFMPEG_FAILED',
  'ERR_FFPROBE_ANSWER',
  'ERR_INTERNAL',
])

/**
 * Copies the input, because the regenerated audio of all of it is the same as the sent voice. The receipt has the figures of
 * each voice, and none of the plan's notes on the writing of the output.
 *
 * @throws what {@link copiedOutput} throws
 */
async function unchangedOutput(
  plan: JobPlan,
  voices: ObtainedVoices,
  attempt: Attempt,
  facts: Omit<SigningFacts, 'pieces'>,
): Promise<AssembledOutput> {
  const { signal } = attempt
  const changes = await soundChanges(voices.pieces, mixOf(facts.settings, signal))
  const sent = { segments: segmentsOf(voices.pieces), ...voiceFigures(voices, changes) }
  const planned = plan.notes.filter((note) => !plan.mux.notes.includes(note))
  const notes = [...planned, ...warningsOf(plan), SAME, ...voiceNotes(voices)]
  return copiedOutput(plan, notes, attempt, { ...facts, sent })
}

/** Loads the voice models only for jobs that ask for it. */
async function withBed(pieces: ObtainedVoices['pieces'], bed: Recipe['bed'], signal: AbortSignal) {
  if (bed === 'keep') return pieces
  const { withLowerBeds } = await import('../../output/lower-beds.js')
  return withLowerBeds(pieces, signal)
}

function mixOf({ recipe }: SigningFacts['settings'], signal: AbortSignal) {
  return { share: recipe.mix / 100, signal }
}

function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/**
 * Plans ffmpeg's remux for a job whose output failed as the input's own bytes with new audio. Its voice is paid for, so
 * another file with its losses is better than none.
 *
 * @param fault of the writing or its verification
 * @param isStrict true if a loss refuses the output
 * @returns null if the remux cannot help, or failed itself
 */
async function remuxInstead(
  plan: JobPlan,
  fault: VoxmuxError,
  isStrict: boolean,
  signal: AbortSignal,
): Promise<JobPlan | null> {
  const reason = fault.message.replace(/\.$/, '')
  // A fault of the remux is not that of the job.
  const mux = await plan.mux.instead?.(reason, signal).catch(() => undefined)
  if (!mux) return null
  const losses = plan.inputCredentials ? mux.losses.filter((loss) => loss.reason !== SIGNS_OLD_BYTES) : mux.losses
  if (isStrict && losses.length > 0) return null
  const notes = plan.notes.filter((note) => !plan.mux.notes.includes(note))
  const why = `ffmpeg wrote the output as a new file, because the first one failed: ${reason}.`
  return { ...plan, mux: { ...mux, losses }, notes: [...notes, ...mux.notes, why] }
}
