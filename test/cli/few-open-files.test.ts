import { expect, it, onTestFinished } from 'vitest'
import { resultEventSchema } from '../../src/pipeline/events.js'
import { runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop } from '../helpers/workshop.js'

it('says in one sentence that too few files may be open to start', async () => {
  const shop = openWorkshop()
  onTestFinished(() => shop.remove())
  shop.take('speech.wav')
  const through = ['prlimit', '--nofile=30']
  const options = { cwd: shop.dir, env: shop.env, through }
  const { exitCode, stderr, stdout } = await runCli(['run', 'speech.wav', '--json'], options)
  expect([exitCode, stderr]).toEqual([
    4,
    'voxmux: Too many files are open.\n  → Raise the limit (ulimit -n) or lower --concurrency.\n',
  ])
  const result = JSON.parse(stdout)
  expect(resultEventSchema.parse(result)).toMatchObject({ exitCode: 4, error: { code: 'ERR_TOO_MANY_FILES' } })
  expect(result).toMatchObject({ event: 'result', schemaVersion: 1, files: [] })
  expect((await runCli(['watch', '.'], options)).stdout).toBe('')
})
