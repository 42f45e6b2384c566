import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { FaultServer } from '../helpers/fault-server.js'
import { eventsOf, type RunningCli, startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
/** The service of a test that is not about the one that voxmux carries. */
let server: FaultServer | undefined

beforeEach(() => {
  server = undefined
  shop = openWorkshop()
  mkdirSync(shop.path('spool'))
})
afterEach(async () => {
  shop.remove()
  await server?.close()
})

function startWorker(...args: readonly string[]): RunningCli {
  const running = startCli(['worker', '--spool', 'spool', ...args], {
    cwd: shop.dir,
    env: { ...shop.env, ...server?.env },
  })
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.ended.catch(() => {})
  })
  return running
}

it('takes a job from the spool, says how it went, and ends at SIGTERM with everything given back', async () => {
  const input = shop.takeVoice('speech.wav')
  const worker = startWorker('--json')
  await worker.until(/"event":"working"/)
  writeFileSync(shop.path('spool/.part'), JSON.stringify({ input, output: `${shop.path('out')}/` }))
  renameSync(shop.path('spool/.part'), shop.path('spool/a.json'))
  await worker.until(/"event":"file"/)
  worker.child.kill('SIGTERM')
  const ended = await worker.ended
  expect(ended.exitCode).toBe(0)
  const events = eventsOf(ended)
  expect(events[0]).toMatchObject({ event: 'working', spool: shop.path('spool'), concurrency: 16, id: null })
  const file = events.find(({ event }) => event === 'file')
  expect(file).toMatchObject({ status: 'done', input, output: shop.path('out/speech.regen.wav'), error: null })
  expect(events.filter(({ event }) => event === 'progress').every(({ id }) => id === file?.id)).toBe(true)
  expect(events.at(-1)).toMatchObject({ event: 'result', exitCode: 0, done: 1, failed: 0, files: [] })
  expect(readdirSync(shop.path('out')).sort()).toEqual(['speech.regen.wav', 'speech.regen.wav.voxmux.json'])
  expect(readdirSync(shop.path('spool'))).toEqual([])
})

it('writes one line of log a step, with the job’s id, where no terminal reads it', async () => {
  server = await FaultServer.start()
  const input = shop.takeVoice('speech.wav')
  writeFileSync(shop.path('spool/a.json'), JSON.stringify({ input }))
  const worker = startWorker()
  await worker.until(/job ended/)
  worker.child.kill('SIGTERM')
  const { stderr, stdout, exitCode } = await worker.ended
  expect(exitCode).toBe(0)
  expect(stdout).toBe('')
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'))
  const logged = lines.map((line) => JSON.parse(line) as { job?: string; msg: string; stage?: string })
  const [begin] = logged.filter(({ msg }) => msg === 'job begins')
  const ofJob = logged.filter(({ job }) => job === begin?.job).map(({ msg, stage }) => stage ?? msg)
  expect(ofJob).toEqual([
    'job begins',
    ...['probe', 'precheck', 'plan', 'cut', 'upload', 'process', 'download', 'align', 'splice', 'mux', 'verify'],
    ...['publish', 'job ended'],
  ])
})

it('finishes, once, what a killed worker began', async () => {
  server = await FaultServer.start()
  const input = shop.take('vfr.mp4')
  writeFileSync(shop.path('spool/a.json'), JSON.stringify({ input }))
  const first = startWorker('--json')
  await first.until(/"stage":"cut"/)
  first.child.kill('SIGKILL')
  await first.ended
  const second = startWorker('--json')
  await second.until(/"event":"file"/)
  second.child.kill('SIGINT')
  const ended = await second.ended
  expect(ended.exitCode).toBe(130)
  const events = eventsOf(ended)
  expect(events.find(({ event }) => event === 'file')).toMatchObject({ status: 'done', input })
  const left = readdirSync(shop.dir).sort()
  expect(left).toEqual(['spool', 'vfr.mp4', 'vfr.regen.mp4', 'vfr.regen.mp4.voxmux.json'])
  expect(readdirSync(join(shop.env.VOXMUX_STATE_DIR ?? '', 'work'))).toEqual([])
})

it('refuses a spool folder that is not there', async () => {
  const args = ['worker', '--spool', 'nowhere', '--json']
  const ended = await runCliInProcess(args, { cwd: shop.dir, env: shop.env })
  expect(ended.exitCode).toBe(2)
  expect(eventsOf(ended).at(-1)).toMatchObject({ event: 'result', error: { code: 'ERR_SPOOL_MISSING' } })
})
