import { renameSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { until } from '../../helpers/until.js'
import { eventsOf, runCli } from '../../helpers/voxmux-cli.js'
import { watchBench } from './watch-bench.js'

const bench = watchBench()

const jobs = (...args: readonly string[]) =>
  runCli(['jobs', ...args, '--json'], { cwd: bench.workshop.dir, env: { ...bench.workshop.env, ...bench.server.env } })

it('says how a failed file that has another name now is processed again', { timeout: 240_000 }, async () => {
  bench.watch('--poll')
  writeFileSync(bench.file('old.wav'), 'no sound')
  const { job } = await until(() => bench.report('old.wav'))
  renameSync(bench.file('old.wav'), bench.file('new.wav'))
  const refused = await jobs('retry', String(job))
  expect(refused.exitCode).toBe(2)
  expect(eventsOf(refused).at(-1)).toMatchObject({
    error: {
      code: 'ERR_INPUT_MISSING',
      message: expect.stringMatching(/old\.wav has another name now, new\.wav,/),
      remedies: [expect.stringContaining(`voxmux jobs forget ${job}`), expect.any(String)],
    },
  })
  expect((await jobs('forget', String(job))).exitCode).toBe(0)
  const again = await until(() => bench.report('new.wav'))
  expect(again).toMatchObject({ source: bench.file('new.wav'), status: 'rejected' })
  await until(() => bench.report('old.wav') === undefined)
})
