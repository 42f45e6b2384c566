import { rename } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../src/ledger/index.js'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import { jobBench } from '../../helpers/job-bench.js'
import { until } from '../../helpers/until.js'
import { smallVoice } from './small-voice.js'

const bench = jobBench()
const OVER = { code: 'ERR_SPENDING_LIMIT', exitCode: 5 }

/** Two voices of 3 s, each with a process of its own on one ledger whose day allows 5 s. */
async function twoVoices() {
  const { context } = bench.pipeline
  const ledger = await openLedger(bench.folder.file('state/ledger.sqlite'))
  onTestFinished(() => ledger.close())
  const first = (await smallVoice(bench)).request
  const path = bench.folder.file('first.bin')
  await rename(bench.folder.file('voice.bin'), path)
  const { request } = await smallVoice(bench)
  const own = { ...context, maxSecondsPerDay: 5 }
  const other = { ...own, voices: ledger.voices, spending: ledger.spending }
  const source = { kind: 'upload', path, clientFileId: 'first' } as const
  return { one: () => regenerateVoice({ ...first, source }, own), two: () => regenerateVoice(request, other) }
}

it('is kept by two voices that are sent at once', async () => {
  const { one, two } = await twoVoices()
  const ends = await Promise.allSettled([one(), two()])
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: OVER })
  expect(bench.server.charges).toBe(1)
  const { spending, voices } = bench.pipeline.context
  expect(await spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  const known = await Promise.all(bench.server.files.map(({ id }) => voices.allByFileId(id)))
  expect(known.flat().map(({ status }) => status)).not.toContain('starting')
})

it('saves the upload of a voice whose seconds another one has reserved', async () => {
  const { one, two } = await twoVoices()
  const { server, pipeline } = bench
  server.fail('startProcess', { kind: 'slow', delayMs: 300 })
  const sent = one()
  await until(async () => (await pipeline.context.spending.spent()).reservedSec === 3)
  await expect(two()).rejects.toMatchObject(OVER)
  expect(server.calls.upload).toBe(1)
  await sent
})
