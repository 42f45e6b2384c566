import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import { resultEventSchema } from '../../src/pipeline/events.js'
import { CLI_PATH, runCli } from '../helpers/voxmux-cli.js'
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

it('says in one sentence that Node is too old to load it', async () => {
  const shop = openWorkshop()
  onTestFinished(() => shop.remove())
  // A package of voxmux's own refuses to load there.
  const oldNode = `Object.defineProperty(process.versions,'node',{value:'18.20.8'})`
  const env = { ...shop.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(oldNode)}` }
  const { exitCode, stderr, stdout } = await runCli(['jobs', 'list', '--json'], { cwd: shop.dir, env })
  expect([exitCode, stderr]).toEqual([
    2,
    'voxmux: Node 18.20.8 is too old for voxmux.\n  → Install Node 20.19 or newer.\n',
  ])
  expect(JSON.parse(stdout)).toMatchObject({ exitCode: 2, error: { code: 'ERR_NODE_TOO_OLD' } })
})

it('can be read by a Node that can read nothing else, and says the same there', () => {
  const entry = readFileSync(CLI_PATH, 'utf8')
  const readBy = (target: string) => transformSync(entry, { target, supported: { 'template-literal': true } }).code
  expect(readBy('node12.20')).toBe(readBy('esnext'))
  expect([...entry.matchAll(/^import .*/gm)].map(([line]) => line)).toEqual([expect.stringContaining("'node:module'")])
  expect(entry).toContain('is too old for voxmux.\n  \\u2192 Install Node 20.19 or newer.\n')
})
