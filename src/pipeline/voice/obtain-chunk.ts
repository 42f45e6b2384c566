import { type FileErrorCode, fileErrorInfo } from '../../contract/index.js'
import { VoxmuxError } from '../../core/errors.js'
import type { LimitFacts, LimitRelation } from '../../ledger/index.js'
import type { VoiceAlignment } from '../../media/index.js'
import type { VoiceCut } from '../../media/voice-cut.js'
import type { PipelineContext } from '../context.js'
import { PART_STAGES } from '../events.js'
import type { JobSettings } from '../plan/job-settings.js'
import type { JobPlan } from '../plan/plan-job.js'
import type { PartProgress } from './mean-progress.js'
import { regenerateVoice } from './regenerate-voice.js'
import { voiceOfCut } from './voice-requests.js'
import type { RegeneratedVoice, VoiceRequest } from './voice-service.js'

/** The property behind each refusal, if its code names one. The interface documents no numbers. */
const CAUSES: Partial<Record<FileErrorCode, { readonly property: keyof CutFacts; readonly relation: LimitRelation }>> =
  {
    [-5]: { property: 'sampleRate', relation: 'at-least' },
    [-6]: { property: 'sampleRate', relation: 'at-most' },
    [-7]: { property: 'format', relation: 'equal' },
    [-13]: { property: 'sizeBytes', relation: 'at-least' },
    [-14]: { property: 'durationSec', relation: 'at-most' },
    [-15]: { property: 'durationSec', relation: 'at-least' },
    [-16]: { property: 'format', relation: 'equal' },
  }

/** A voice file and its regenerated audio. */
export interface ObtainedChunk {
  readonly cut: VoiceCut
  readonly alignment: VoiceAlignment
  /** Seconds charged for it in this run. The interface does not say whether a part without a voice is charged. */
  readonly paidSec: number
  /** Null if the service found no voice in this part or channel of several, which then stays unchanged. */
  readonly regenerated: RegeneratedVoice<VoiceAlignment> | null
}

export interface ObtainChunkOptions extends Pick<VoiceRequest<unknown>, 'requireInput'> {
  readonly plan: JobPlan
  readonly settings: JobSettings
  readonly signal: AbortSignal
  readonly waitUntilMs: number | undefined
  /** For one of several parts: called if the service finds no voice in it, and the part stays unchanged. */
  readonly onVoiceless: ((error: VoxmuxError) => void) | null
  readonly onProgress: PartProgress
  /** See `VoiceProgress`. */
  readonly onPaid: (sec: number) => void
}

/** The service's NotEnoughVoice. */
const NOT_ENOUGH_VOICE = -3

/**
 * Has one voice file regenerated, and aligns the regenerated audio. A part of a longer voice without any speech (ten
 * minutes of a chase) stays unchanged, because the whole file would have passed. The same holds for one of several
 * channels, such as the music beside the dialogue.
 */
export async function obtainChunk(
  cut: VoiceCut,
  options: ObtainChunkOptions,
  context: PipelineContext,
): Promise<ObtainedChunk> {
  const { plan, settings, signal, waitUntilMs, onProgress, onVoiceless, requireInput } = options
  const { model, outputType } = settings.recipe.voice
  const wanted = outputType === 'lossless' ? cut.format : outputType
  const audioPath = cut.path.replace(/voice-([\d-]+)\.\w+$/, `answer-$1.${wanted}`)
  const { slots } = context
  const request = voiceOfCut(plan.media.path, cut, { model, outputType: wanted, audioPath, slots, requireInput })
  await warnOfLearned(cut, context)
  const allObtained = () => {
    for (const stage of PART_STAGES) onProgress(stage, 100)
  }
  let paidSec = 0
  const onPaid = (sec: number) => {
    paidSec += sec
    options.onPaid(sec)
  }
  try {
    const regenerated = await regenerateVoice(request, context, { signal, onProgress, onPaid, waitUntilMs })
    await learnFrom(cut, null, context)
    allObtained()
    return { cut, alignment: regenerated.judged, paidSec, regenerated }
  } catch (error) {
    if (!(error instanceof VoxmuxError) || error.errorCode === undefined) throw error
    await learnFrom(cut, error.errorCode, context)
    if (error.errorCode !== NOT_ENOUGH_VOICE || !onVoiceless) throw error
    onVoiceless(error)
    allObtained()
    const unchanged = { pcm: cut.pcm, startSample: 0 }
    return {
      ...{ cut, paidSec },
      alignment: { lagSamples: 0, match: 1, method: 'silence', regenerated: unchanged },
      regenerated: null,
    }
  }
}

type CutFacts = Readonly<Record<'sampleRate' | 'format' | 'sizeBytes' | 'durationSec', number | string>>

type LearnedContext = Pick<PipelineContext, 'learned' | 'serviceIdentity' | 'logger'>

/** Warns if the service refused a similar file before. The file is sent anyway, because a limit may have changed. */
async function warnOfLearned(cut: VoiceCut, context: LearnedContext): Promise<void> {
  for (const { errorCode, property, value } of await context.learned.matching(context.serviceIdentity, factsOf(cut))) {
    const { name } = fileErrorInfo(errorCode as FileErrorCode)
    const message = `The service refused a similar voice before with ${name} (${errorCode}), at ${property} ${value}. It is sent anyway.`
    context.logger.warn({ errorCode, property, value }, message)
  }
}

/** Records the reason of a refusal, or that such a file was accepted. An `errorCode` of null means accepted. */
async function learnFrom(cut: VoiceCut, errorCode: number | null, context: LearnedContext): Promise<void> {
  const { learned, serviceIdentity: service } = context
  const facts = factsOf(cut)
  if (errorCode === null) return learned.unlearn(service, facts)
  const cause = CAUSES[errorCode as FileErrorCode]
  if (cause) await learned.learn({ service, errorCode, ...cause, value: facts[cause.property] })
}

function factsOf({ sampleRate, format, sizeBytes, sampleCount }: VoiceCut): CutFacts & LimitFacts {
  return { sampleRate, format, sizeBytes, durationSec: sampleCount / sampleRate }
}
