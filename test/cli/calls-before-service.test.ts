import { type Debugger, Session } from 'node:inspector'
import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { expect, it, onTestFinished, vi } from 'vitest'
import { command } from '../../src/cli/commands/run.js'
import { createOutput } from '../../src/cli/output/output.js'
import { VoxmuxClient } from '../../src/client/index.js'
import { jobBench } from '../helpers/job-bench.js'

const SOURCE = new URL('../../src/', import.meta.url).href

const bench = jobBench()

it('reaches the service in eight calls or fewer', async () => {
  const clip = await bench.take('speech.wav')
  const calls = await callsBeforeService(() => run(clip))
  expect(calls[0]).toBe('cli/commands/run.ts:regenerate')
  expect(calls.length, calls.join(' > ')).toBeLessThanOrEqual(8)
})

/** Runs `voxmux run` on a file in this process. */
async function run(input: string): Promise<void> {
  const stream = () => new PassThrough().resume() as unknown as WriteStream
  const output = createOutput({ json: true, stdout: stream(), stderr: stream() })
  const exitCode = await command.run(
    { _: [], $0: 'voxmux', input: [input], progress: 'none' },
    {
      ...{ cwd: bench.folder.path, signal: new AbortController().signal, onHangUp: () => {}, output, commands: [] },
      env: { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('state'), PATH: process.env.PATH },
    },
  )
  expect(exitCode).toBe(0)
}

/**
 * The functions of voxmux between the command and its first call to the client, outermost first. The debugger's stack
 * follows every `await` and every queue. A function counts once, with the closures in it.
 */
async function callsBeforeService(work: () => Promise<void>): Promise<readonly string[]> {
  const session = new Session()
  session.connect()
  onTestFinished(() => session.disconnect())
  let first: Debugger.PausedEventDataType | undefined
  session.on('Debugger.paused', ({ params }) => {
    first ??= params
  })
  session.post('Debugger.enable')
  session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 10_000 })
  const { registerAndUpload } = VoxmuxClient.prototype
  const spy = vi.spyOn(VoxmuxClient.prototype, 'registerAndUpload')
  onTestFinished(() => spy.mockRestore())
  spy.mockImplementation(function (this: VoxmuxClient, ...args) {
    // biome-ignore lint/suspicious/noDebugger: the session above reads the stack here
    debugger
    return registerAndUpload.apply(this, args)
  })
  await work()
  if (!first) throw new Error('nothing was sent')
  const frames: { readonly url: string; readonly functionName: string }[] = [...first.callFrames]
  for (let part = first.asyncStackTrace; part; part = part.parent) frames.push(...part.callFrames)
  const own = frames
    .filter(({ url, functionName }) => url.startsWith(SOURCE) && functionName !== '')
    .map(({ url, functionName }) => `${url.slice(SOURCE.length)}:${functionName}`)
  const command = own.indexOf('cli/commands/run.ts:run')
  return [...new Set(own.slice(0, command))].reverse()
}
