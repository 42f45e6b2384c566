import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fileFacts } from '../../../../plugins/watch-folder/candidates/file-facts.js'
import { tinyWave } from '../../../helpers/sound/tiny-wave.js'
import { waveHeader } from '../../../helpers/sound/wave-header.js'
import { intakeBench } from './intake-bench.js'

const { file, take, work, watched, loseIndex, jobs } = intakeBench()

/** 17 MiB of sound, of which the index reads only samples: noise at the start, then silence. */
function longWave(clickAtByte: number | null): Buffer {
  const noise = tinyWave(1).subarray(44)
  const bytes = Buffer.alloc(17 * 1024 ** 2)
  noise.copy(bytes)
  if (clickAtByte !== null) noise.copy(bytes, clickAtByte)
  return Buffer.concat([waveHeader(1, 48_000, bytes.length), bytes])
}

/** Behind the head, before the first place that is read. */
const UNREAD_BYTE = 2 * 1024 ** 2 + 60_000

it('takes a corrected long file under a new name when the old one was done and removed', async () => {
  writeFileSync(file('film.wav'), longWave(null))
  expect(await take('film.wav')).toMatchObject({ outcome: 'queued' })
  await work()
  rmSync(file('film.wav'))

  writeFileSync(file('film v2.wav'), longWave(UNREAD_BYTE))
  expect(await take('film v2.wav')).toMatchObject({ outcome: 'queued' })
  await work()
  expect(existsSync(file('out/film v2.wav'))).toBe(true)
  expect(jobs.server.charges).toBe(2)

  // The same bytes under a third name are still the same file.
  renameSync(file('film v2.wav'), file('film final.wav'))
  expect(await take('film final.wav')).toMatchObject({ outcome: 'known' })
})

it('knows a file by the ledger when the index is lost, although its output would be named otherwise today', async () => {
  const on = (date: string) => watched({ nameTemplate: `${date}/{name}{ext}` })
  writeFileSync(file('a.wav'), tinyWave(1))
  expect(await take('a.wav', on('2026-01-01'))).toMatchObject({ outcome: 'queued' })
  await work()
  loseIndex()
  expect(await take('a.wav', on('2026-01-02'))).toMatchObject({ outcome: 'known', job: { status: 'done' } })
})

it.each(['renamed', 'removed and copied again'])('reports a failed file again that was %s', async (how) => {
  writeFileSync(file('bad.wav'), 'no sound')
  const taken = await take('bad.wav')
  await work()
  const name = how === 'renamed' ? 'new.wav' : 'bad.wav'
  rmSync(file('bad.wav'))
  writeFileSync(file(name), 'no sound')
  expect(await take(name)).toMatchObject({ outcome: 'known', job: { status: 'rejected' } })
  const report = JSON.parse(readFileSync(file(`failed/${name}.json`), 'utf8'))
  expect(report).toMatchObject({
    ...{ source: file(name), status: 'rejected', code: 'ERR_UNREADABLE', preset: 'transparent' },
    remedies: expect.arrayContaining([expect.stringContaining('voxmux jobs retry')]),
    job: 'job' in taken ? taken.job.id : null,
  })
})

it('asks again about a file that changed while its content was read', async () => {
  writeFileSync(file('a.wav'), tinyWave(1))
  const before = await fileFacts(file('a.wav'))
  writeFileSync(file('a.wav'), tinyWave(2))
  expect(await take('a.wav', watched(), before)).toEqual({ outcome: 'later' })
  expect(await jobs.pipeline.context.jobs.list()).toEqual([])
})

it('forgets the job of an older version, unless a worker has begun it', async () => {
  const { jobs: ledger } = jobs.pipeline.context
  for (const sec of [1, 2]) {
    writeFileSync(file('a.wav'), tinyWave(sec))
    expect(await take('a.wav')).toMatchObject({ outcome: 'queued' })
  }
  const [waiting, ...others] = await ledger.list()
  expect(others).toEqual([])
  await ledger.claim(waiting?.key ?? '')
  writeFileSync(file('a.wav'), tinyWave(3))
  expect(await take('a.wav')).toEqual({ outcome: 'later' })
  expect(await ledger.list()).toMatchObject([{ id: waiting?.id }])
})
