import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { onnxModelSchema } from '../../src/voice/onnx/onnx-model.js'

const page = readFileSync(new URL('../../docs/onnx-engine.md', import.meta.url), 'utf8')
const descriptions = [...page.matchAll(/```json\n([\s\S]*?)```/g)]
  .map(([, json]) => JSON.parse(json ?? ''))
  .filter((value) => 'stages' in value)

test('every description on the page of the onnx engine is one', () => {
  expect(descriptions).toHaveLength(7)
  for (const description of descriptions) expect(onnxModelSchema.safeParse(description).error).toBeUndefined()
})

test.each([
  ['neither way of feeding', { sampleRate: 16_000 }],
  ['both ways of feeding', { sampleRate: 16_000, frame: { size: 512, hop: 128 }, whole: {} }],
  ['a whole sound as spectra', { ...descriptions[0], frame: undefined, whole: {} }],
  ['spectra of an odd size', { ...descriptions[0], frame: { size: 511, hop: 128 } }],
  ['a hop over the frame', { ...descriptions[0], frame: { size: 512, hop: 600 } }],
])('a description with %s is refused', (_, wrong) => {
  expect(onnxModelSchema.safeParse({ stages: descriptions[0]?.stages, ...wrong }).success).toBe(false)
})
