import { VoxmuxError } from '../core/errors.js'
import { alignVoice, type VoiceAlignment } from '../media/index.js'
import type { VoiceCut } from '../media/voice-cut.js'
import type { PipelineContext } from './context.js'
import type { JobSettings } from './job-settings.js'
import type { PartProgress } from './joint-progress.js'
import { learnFrom, warnOfLearned } from './learned-limits.js'
import type { JobPlan } from './plan-job.js'
import { regenerateVoice } from './regenerate-voice.js'
import { cutOrder } from './voice-orders.js'
import type { RegeneratedVoice } from './voice-service.js'

/** A voice file from cut to answer. */
export interface ObtainedChunk {
  readonly cut: VoiceCut
  readonly alignment: VoiceAlignment
  /** Null where the service found no voice in this part, or channel, of several: it stays as it was. */
  readonly regenerated: RegeneratedVoice | null
}

export interface ObtainChunkOptions {
  readonly plan: JobPlan
  readonly settings: JobSettings
  readonly signal: AbortSignal
  readonly waitUntilMs: number | undefined
  /** One of several parts of a longer voice, or of several channels: told of where it has no voice, and left. */
  readonly onVoiceless: ((error: VoxmuxError) => void) | null
  readonly tell: PartProgress
}

/** The service's NotEnoughVoice. */
const NOT_ENOUGH_VOICE = -3

/**
 * Has one voice file regenerated and measures how the answer lines up. A part of a longer voice in which nobody
 * speaks (ten minutes of a chase) stays as it was: sent whole, the file would have passed. So does a channel of
 * several, such as the music beside the dialogue.
 */
export async function obtainChunk(
  cut: VoiceCut,
  options: ObtainChunkOptions,
  context: PipelineContext,
): Promise<ObtainedChunk> {
  try {
    return await regenerated(cut, options, context)
  } catch (error) {
    if (!(error instanceof VoxmuxError) || error.errorCode !== NOT_ENOUGH_VOICE || !options.onVoiceless) throw error
    options.onVoiceless(error)
    const answer = { path: cut.path, filters: [], startSample: 0, sample: 'f64' as const }
    for (const stage of ['upload', 'process', 'download', 'align'] as const) options.tell(stage, 100)
    return { cut, alignment: { lagSamples: 0, match: 1, method: 'silence', places: [], answer }, regenerated: null }
  }
}

async function regenerated(
  cut: VoiceCut,
  { plan, settings, signal, waitUntilMs, tell }: ObtainChunkOptions,
  context: PipelineContext,
): Promise<ObtainedChunk> {
  const { model, outputType } = settings.recipe.voice
  const wanted = outputType === 'lossless' ? cut.format : outputType
  const answerPath = cut.path.replace(/voice-([\d-]+)\.\w+$/, `answer-$1.${wanted}`)
  const order = cutOrder(plan.media.path, cut, { model, outputType: wanted, answerPath })
  await warnOfLearned(cut, context)
  const progress = { signal, onProgress: tell, waitUntilMs }
  const voice = await regenerateVoice(order, context, progress).catch(async (error: unknown) => {
    if (error instanceof VoxmuxError && error.errorCode !== undefined) await learnFrom(cut, error.errorCode, context)
    throw error
  })
  await learnFrom(cut, null, context)
  for (const stage of ['upload', 'process', 'download'] as const) tell(stage, 100)
  const alignment = await context.slots.local.run(() => alignVoice(cut, voice.path, { signal }), signal)
  tell('align', 100)
  return { cut, alignment, regenerated: voice }
}
