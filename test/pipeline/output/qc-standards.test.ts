import { expect, it } from 'vitest'
import { judgeSound } from '../../../src/pipeline/output/qc-standards.js'

const SOUND = {
  ...{ integratedLufs: -23, rangeLu: 5, momentaryMaxLufs: -16, shortTermMaxLufs: -19, truePeakDbtp: -3 },
  ...{ dialogueLufs: null, voiceShare: null, silenceSec: 0, longestSilenceSec: 0, phase: 1, outOfPhaseSec: 0 },
}

it.each([
  ['ebu-r128', { integratedLufs: -23.54 }, { integratedLufs: true, truePeakDbtp: true }],
  ['ebu-r128', { integratedLufs: -23.56 }, { integratedLufs: false, truePeakDbtp: true }],
  ['ebu-r128', { truePeakDbtp: -0.94 }, { integratedLufs: true, truePeakDbtp: false }],
  ['ebu-r128', { integratedLufs: null }, { integratedLufs: null, truePeakDbtp: true }],
  ['ebu-r128-live', { integratedLufs: -24 }, { integratedLufs: true, truePeakDbtp: true }],
  ['ebu-r128-s1', {}, { integratedLufs: true, shortTermMaxLufs: true, truePeakDbtp: true }],
  ['ebu-r128-s1', { shortTermMaxLufs: -17.9 }, { integratedLufs: true, shortTermMaxLufs: false, truePeakDbtp: true }],
  ['ebu-r128-s1', { shortTermMaxLufs: null }, { integratedLufs: true, momentaryMaxLufs: true, truePeakDbtp: true }],
  ['atsc-a85', { integratedLufs: -25.9, truePeakDbtp: -1.9 }, { integratedLufs: true, truePeakDbtp: false }],
  ['netflix', { dialogueLufs: -27, voiceShare: 0.15 }, { dialogueLufs: true, truePeakDbtp: true }],
  ['netflix', { dialogueLufs: -24.9, voiceShare: 0.9 }, { dialogueLufs: false, truePeakDbtp: true }],
  ['netflix', { dialogueLufs: -27, voiceShare: 0.14 }, { integratedLufs: true, truePeakDbtp: true }],
  ['apple-podcasts', {}, { integratedLufs: false, truePeakDbtp: true }],
] as const)('judges by %s: %j', (name, figures, expected) => {
  const rules = judgeSound(name, { ...SOUND, ...figures })
  expect(Object.fromEntries(rules.map(({ figure, passed }) => [figure, passed]))).toEqual(expected)
  for (const { source } of rules) expect(source).toMatch(/\(\S+\.\S+\)$/)
})
