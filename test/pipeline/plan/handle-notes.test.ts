import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { planJob } from '../../../src/pipeline/plan/plan-job.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const SPEECH = fileURLToPath(new URL('../../../fixtures/speech.wav', import.meta.url))

const part = (startSec: number, endSec: number) => ({ startSec, endSec })

it.each([
  ['near parts', [part(0.2, 0.4), part(0.5, 0.7)], '0:01.400'],
  ['parts whose handles both reach the end', [part(1, 2.2), part(2.4, 2.6)], '0:01.600'],
  ['the parts of a touching pair, which are one', [part(0.2, 0.4), part(0.4, 0.7)], null],
  ['a single part', [part(1, 2)], null],
])('says how much is sent twice of %s', async (_, segments, time) => {
  const { notes, paidSec } = await planJob(requestFor(SPEECH, { segments }), {})
  const twice = notes.filter((note) => note.includes('is sent more than once'))
  expect(twice).toEqual(
    time === null
      ? []
      : [
          `Audio track 0: ${time} is sent more than once, because the handles of near parts overlap. Write such parts as one to pay less.`,
        ],
  )
  expect(paidSec).toBeGreaterThan(0)
})
