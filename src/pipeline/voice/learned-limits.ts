import { type FileErrorCode, fileErrorInfo } from '../../contract/index.js'
import type { Logger } from '../../core/logger.js'
import type { FileFacts, LimitRelation, LimitsLearned } from '../../ledger/index.js'
import type { VoiceCut } from '../../media/voice-cut.js'

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

type CutFacts = Readonly<Record<'sampleRate' | 'format' | 'sizeBytes' | 'durationSec', number | string>>

interface LearnedContext {
  readonly learned: LimitsLearned
  readonly serviceIdentity: string
  readonly logger: Logger
}

/** Warns if the service refused a similar file before. The file is sent anyway, because a limit may have changed. */
export async function warnOfLearned(cut: VoiceCut, context: LearnedContext): Promise<void> {
  for (const { errorCode, property, value } of await context.learned.matching(context.serviceIdentity, factsOf(cut))) {
    const { name } = fileErrorInfo(errorCode as FileErrorCode)
    const message = `The service refused a similar voice before with ${name} (${errorCode}), at ${property} ${value}. It is sent anyway.`
    context.logger.warn({ errorCode, property, value }, message)
  }
}

/** Records the reason of a refusal, or that such a file was accepted. An `errorCode` of null means accepted. */
export async function learnFrom(cut: VoiceCut, errorCode: number | null, context: LearnedContext): Promise<void> {
  const { learned, serviceIdentity: service } = context
  const facts = factsOf(cut)
  if (errorCode === null) return learned.unlearn(service, facts)
  const cause = CAUSES[errorCode as FileErrorCode]
  if (cause) await learned.learn({ service, errorCode, ...cause, value: facts[cause.property] })
}

function factsOf({ sampleRate, format, sizeBytes, sampleCount }: VoiceCut): CutFacts & FileFacts {
  return { sampleRate, format, sizeBytes, durationSec: sampleCount / sampleRate }
}
