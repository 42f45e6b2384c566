import type { Limits } from './limits.js'
import { AUDIO_RULES } from './rules/audio-rules.js'
import { CONTENT_RULES } from './rules/content-rules.js'
import { FILE_RULES } from './rules/file-rules.js'
import type { Rule } from './rules/rule.js'
import type { Subject } from './subject.js'
import { type Verdict, verdict } from './verdict.js'

/** Every rule, the one that explains most first: it gives the code where only one can be told. */
export const RULES: readonly Rule[] = [...CONTENT_RULES, ...AUDIO_RULES, ...FILE_RULES]

/**
 * Judges a file: all its problems at once, none hidden behind another.
 *
 * Used by the local pre-check before anything is sent and by the embedded service on what it received, so that the
 * two never disagree.
 *
 * @param limits what the service takes; a limit that is absent is not checked
 * @returns the problems in the order of {@link RULES}; empty for a file that is taken
 */
export function runRules(subject: Subject, limits: Limits): readonly Verdict[] {
  return RULES.flatMap((rule) => {
    const problem = rule.problem(subject, limits)
    return problem === null ? [] : [verdict(rule.errorCode, problem, rule.severity?.(limits) ?? 'refuse')]
  })
}
