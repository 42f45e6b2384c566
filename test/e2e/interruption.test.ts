import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { resultEventSchema } from '../../src/pipeline/events.js'
import { FaultServer } from '../helpers/fault-server.js'
import { eventsOf, type RunningCli, runCli, startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

const PUBLISHED = ['media/speech.regen.wav', 'media/speech.regen.wav.voxmux.json', 'media/speech.wav']

let server: FaultServer
let workshop: Workshop

beforeEach(async () => {
  server = await FaultServer.start()
  workshop = openWorkshop()
})
afterEach(async () => {
  workshop.remove()
  await server.close()
})

describe('a run that is stopped while the service works', () => {
  it('by kill -9: the next one attaches, and the file is started once in all', async () => {
    const running = await runUntilProcessing()
    running.child.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    await expectSecondRunAttaches()
  })

  it.each(process.env.VOXMUX_SOAK ? (['SIGINT', 'SIGTERM'] as const) : (['SIGINT'] as const))(
    'by %s: it ends with 130, leaves nothing, and the next one attaches',
    async (signal) => {
      const running = await runUntilProcessing()
      running.child.kill(signal)
      const result = await running.ended
      expect(result.exitCode, result.stderr).toBe(130)
      const events = eventsOf(result)
      expect(events.filter(({ event }) => event === 'result')).toHaveLength(1)
      const report = resultEventSchema.parse(events.at(-1))
      expect(report).toMatchObject({ exitCode: 130, status: 'pending', pending: 1, output: null })
      expect(names()).toEqual(['media/speech.wav'])
      await expectSecondRunAttaches()
    },
  )
})

it.skipIf(process.platform === 'win32')('that waits for a pipe is ended by the third signal', async () => {
  execFileSync('mkfifo', [workshop.path('pipe.json')])
  const running = startCli(['run', workshop.takeVoice('speech.wav'), '--config', workshop.path('pipe.json')], options())
  // Nothing is written into the pipe, so the thread that reads it stays there.
  const openForWriting = () => openSync(workshop.path('pipe.json'), constants.O_WRONLY | constants.O_NONBLOCK)
  const pipe = await vi.waitFor(openForWriting, { timeout: 30_000, interval: 50 })
  onTestFinished(() => closeSync(pipe))
  running.child.kill('SIGINT')
  await running.until(/press Ctrl-C again/)
  running.child.kill('SIGINT')
  await running.until(/Interrupted/)
  running.child.kill('SIGINT')
  expect((await running.ended).signal).toBe('SIGINT')
})

/** Starts a run and waits until its file is started and the service is asked how it stands: asked, it stays silent. */
async function runUntilProcessing(): Promise<RunningCli> {
  server.fail('getFilesStatus', { kind: 'hang' }, Number.POSITIVE_INFINITY)
  const running = startCli(['run', workshop.takeVoice('speech.wav'), '--json'], options())
  await vi.waitFor(() => expect(server.calls.getFilesStatus).toBeGreaterThan(0), { timeout: 30_000, interval: 20 })
  expect(server.calls.startProcess).toBe(1)
  return running
}

async function expectSecondRunAttaches(): Promise<void> {
  server.heal()
  const result = await runCli(['run', workshop.path('speech.wav'), '--json'], options())
  expect(result.exitCode, result.stderr).toBe(0)
  const { registerFile, upload, startProcess } = server.calls
  expect({ registerFile, upload, startProcess }).toEqual({ registerFile: 1, upload: 1, startProcess: 1 })
  expect(server.charges).toBe(1)
  expect(names()).toEqual(PUBLISHED)
}

function names(): readonly string[] {
  return workshop.inventory().map((line) => line.split(' ')[0] ?? '')
}

function options() {
  return { cwd: workshop.dir, env: { ...workshop.env, ...server.env } }
}
