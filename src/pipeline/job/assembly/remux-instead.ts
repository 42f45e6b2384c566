import type { VoxmuxError } from '../../../core/errors.js'
import { SIGNS_OLD_BYTES } from '../../../media/index.js'
import type { JobPlan } from '../../plan/plan-job.js'

/**
 * Plans ffmpeg's remux for a job whose output failed as the input's own bytes with new audio. Its voice is paid for, so
 * another file with its losses is better than none.
 *
 * @param fault of the writing or its verification
 * @param isStrict true if a loss refuses the output
 * @returns null if the remux cannot help, or failed itself
 */
export async function remuxInstead(
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
