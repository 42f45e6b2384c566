import { type FileErrorCode, fileErrorInfo } from '../contract/index.js'
import type { Logger } from '../core/logger.js'
import type { FileFacts, LimitRelation, LimitsLearned } from '../jobs/index.js'
import type { VoiceCut } from '../media/voice-cut.js'

/** Which property of a file a refusal is about, where a code says so (the interface shows none of the numbers). */
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

/** Warns where the service refused a file like this one before. A limit may have changed: it is sent all the same. */
export async function warnOfLearned(cut: VoiceCut, context: LearnedContext): Promise<void> {
  for (const { errorCode, property, value } of await context.learned.matching(context.serviceIdentity, factsOf(cut))) {
    const { name } = fileErrorInfo(errorCode as FileErrorCode)
    const message = `The service refused a voice like this one before: ${name} (${errorCode}), with ${property} ${value}.`
    context.logger.warn({ errorCode, property, value }, message)
  }
}

/** Remembers what a refusal was about, or that such a file is taken after all. `errorCode` null: it was taken. */
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
