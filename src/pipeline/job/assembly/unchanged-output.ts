import { segmentsOf, voiceFigures, voiceNotes, warningsOf } from '../../output/receipt-of.js'
import { soundChanges } from '../../output/sound-changes.js'
import type { JobPlan } from '../../plan/plan-job.js'
import type { ObtainedVoices } from '../../voice/obtain-voices.js'
import type { Attempt } from '../job-life.js'
import type { AssembledOutput } from '../publish-output.js'
import { type CopyFacts, copiedOutput } from './copied-output.js'

const REASON = 'The regenerated audio was the same, so the output is a copy of the input.'

/**
 * Copies the input, because the regenerated audio of all of it is the same as the sent voice. The receipt has the figures of
 * each voice, and none of the plan's notes on the writing of the output.
 *
 * @throws what {@link copiedOutput} throws
 */
export async function unchangedOutput(
  plan: JobPlan,
  voices: ObtainedVoices,
  attempt: Attempt,
  facts: Omit<CopyFacts, 'sent'>,
): Promise<AssembledOutput> {
  const { signal } = attempt
  const changes = await soundChanges(voices.pieces, { share: facts.settings.recipe.mix / 100, signal })
  const sent = { segments: segmentsOf(voices.pieces), ...voiceFigures(voices, changes) }
  const planned = plan.notes.filter((note) => !plan.mux.notes.includes(note))
  return copiedOutput(plan, [...planned, ...warningsOf(plan), REASON, ...voiceNotes(voices)], attempt, {
    ...facts,
    sent,
  })
}
