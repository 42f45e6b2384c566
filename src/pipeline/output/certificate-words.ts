import type { Certificate, RuleResult } from './certificate.js'

/** Names of the figures, for people. */
const FIGURES: Readonly<Record<RuleResult['figure'], readonly [name: string, unit: string]>> = {
  integratedLufs: ['integrated loudness', 'LUFS'],
  dialogueLufs: ['loudness of the dialogue', 'LUFS'],
  momentaryMaxLufs: ['highest momentary loudness', 'LUFS'],
  shortTermMaxLufs: ['highest short-term loudness', 'LUFS'],
  truePeakDbtp: ['true peak', 'dBTP'],
}

/** The name of a rule's figure, its value and its limit, for people. */
export function ruleWords({ figure, measured, from, to }: RuleResult) {
  const [name, unit] = FIGURES[figure]
  const value = measured === null ? 'not measured' : `${measured.toFixed(1)} ${unit}`
  const limit = from === null ? `at most ${to.toFixed(1)} ${unit}` : `${from.toFixed(1)} to ${to.toFixed(1)} ${unit}`
  return { name, value, limit }
}

/** Describes the result of a certificate in one line. A rule that failed is named with its figure and its limit. */
export function certificateWords({ title, passed, fault, tracks }: Certificate): string {
  if (fault !== null) return `${title}: not measured. ${fault}`
  const several = tracks.length > 1
  const rules = tracks.flatMap(({ outputIndex, rules }) =>
    rules.map((rule) => {
      const { name, value, limit } = ruleWords(rule)
      const limits = rule.passed === true ? '' : ` (${rule.passed === null ? '' : 'failed, '}allowed: ${limit})`
      return `${several ? `stream ${outputIndex}: ` : ''}${name} ${value}${limits}`
    }),
  )
  return `${title}: ${verdictWords(passed)}. ${rules.join('; ')}`
}

/** One word for a verdict. */
export function verdictWords(passed: boolean | null): string {
  if (passed === null) return 'not measured'
  return passed ? 'passed' : 'failed'
}
