import type { QcStandardName } from '../../config/preset-schema.js'
import type { MeasuredSound } from '../../media/index.js'
import type { RuleResult } from './certificate.js'

/** A limit for one figure of a track. Both bounds are allowed values. */
interface QcRule extends Pick<RuleResult, 'figure' | 'from' | 'to' | 'source'> {
  /** The tracks that the rule applies to; all by default. */
  readonly when?: (sound: MeasuredSound) => boolean
}

interface QcStandard {
  readonly title: string
  readonly rules: readonly QcRule[]
}

const EBU = 'EBU R 128 (tech.ebu.ch/publications/r128)'
const EBU_SHORT = 'EBU R 128 s1 (tech.ebu.ch/publications/r128s1)'
const ATSC = 'ATSC Recommended Practice A/85 (www.atsc.org)'
const NETFLIX = 'Netflix Sound Mix Specifications & Best Practices (partnerhelp.netflixstudios.com)'
const APPLE = 'Apple Podcasts for Creators, Audio requirements (podcasters.apple.com/support/893-audio-requirements)'

/** Below this share of dialogue, the Netflix specification measures the whole programme. */
const LITTLE_DIALOGUE = 0.15

const ebuPeak: QcRule = { figure: 'truePeakDbtp', from: null, to: -1, source: EBU }

/** The published limits of each standard. A rule without a published source is not in it. */
export const QC_RULES: Readonly<Record<QcStandardName, QcStandard>> = {
  'ebu-r128': {
    title: 'EBU R 128',
    rules: [{ figure: 'integratedLufs', from: -23.5, to: -22.5, source: EBU }, ebuPeak],
  },
  'ebu-r128-live': {
    title: 'EBU R 128, live programmes',
    rules: [{ figure: 'integratedLufs', from: -24, to: -22, source: EBU }, ebuPeak],
  },
  'ebu-r128-s1': {
    title: 'EBU R 128 s1, short-form content',
    rules: [
      { figure: 'integratedLufs', from: -23.5, to: -22.5, source: EBU_SHORT },
      { figure: 'shortTermMaxLufs', from: null, to: -18, source: EBU_SHORT, when: hasShortTerm },
      // The supplement allows either figure. Less than 3 s of sound has only this one.
      { figure: 'momentaryMaxLufs', from: null, to: -15, source: EBU_SHORT, when: (sound) => !hasShortTerm(sound) },
      { ...ebuPeak, source: EBU_SHORT },
    ],
  },
  'atsc-a85': {
    title: 'ATSC A/85',
    rules: [
      { figure: 'integratedLufs', from: -26, to: -22, source: ATSC },
      { figure: 'truePeakDbtp', from: null, to: -2, source: ATSC },
    ],
  },
  netflix: {
    title: 'Netflix',
    rules: [
      { figure: 'dialogueLufs', from: -29, to: -25, source: NETFLIX, when: hasDialogue },
      { figure: 'integratedLufs', from: -26, to: -22, source: NETFLIX, when: (sound) => !hasDialogue(sound) },
      { figure: 'truePeakDbtp', from: null, to: -2, source: NETFLIX },
    ],
  },
  'apple-podcasts': {
    title: 'Apple Podcasts',
    rules: [
      { figure: 'integratedLufs', from: -17, to: -15, source: APPLE },
      { figure: 'truePeakDbtp', from: null, to: -1, source: APPLE },
    ],
  },
}

/** True if a standard measures the dialogue, so that a voice map is needed. */
export function judgesDialogue(name: QcStandardName): boolean {
  return QC_RULES[name].rules.some(({ figure }) => figure === 'dialogueLufs')
}

/** Judges a track by the rules that apply to it. Figures count to a tenth, as meters show them (EBU Tech 3341). */
export function judgeSound(name: QcStandardName, sound: MeasuredSound): RuleResult[] {
  return QC_RULES[name].rules.flatMap(({ when, ...rule }) => {
    if (when?.(sound) === false) return []
    const exact = sound[rule.figure]
    const measured = exact === null ? null : Number(exact.toFixed(1))
    const passed = measured === null ? null : measured <= rule.to && measured >= (rule.from ?? measured)
    return [{ ...rule, measured, passed }]
  })
}

function hasShortTerm({ shortTermMaxLufs }: MeasuredSound): boolean {
  return shortTermMaxLufs !== null
}

function hasDialogue({ voiceShare }: MeasuredSound): boolean {
  return voiceShare !== null && voiceShare >= LITTLE_DIALOGUE
}
