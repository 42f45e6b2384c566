import type { Limits } from './limits.js'
import { AUDIO_RULES } from './rules/audio-rules.js'
import { CONTENT_RULES } from './rules/content-rules.js'
import { FILE_RULES } from './rules/file-rules.js'
import type { Rule } from './rules/rule.js'
import type { Subject } from './subject.js'
import { type Verdict, verdict } from './verdict.js'

/** All rules. The first problem sets the error code, so the most informative rules come first. */
export const RULES: readonly Rule[] = [...CONTENT_RULES, ...AUDIO_RULES, ...FILE_RULES]

/**
 * Checks a file against all rules and reports every problem.
 *
 * The local pre-check uses it before anything is sent, and the embedded service on the received file, so that both
 * always agree.
 *
 * @param limits limits of the service; an absent limit is not checked
 * @returns the problems in the order of {@link RULES}; empty for an accepted file
 */
export function runRules(subject: Subject, limits: Limits): readonly Verdict[] {
  return RULES.flatMap((rule) => {
    const problem = rule.problem(subject, limits)
    return problem === null
      ? []
      : [verdict(rule.errorCode, problem, rule.severity?.(limits) ?? 'refuse', rule.remedies)]
  })
}
