import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { FaultServer } from '../helpers/fault-server.js'
import { eventsOf, runCli, startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'
import { manifest, strangersFolder } from './extension-folder.js'

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

const options = () => ({ cwd: workshop.dir, env: { ...workshop.env, ...server.env } })
/** Runs the command without a start of its own. */
const run = (args: readonly string[]) => runCliInProcess(args, options())

describe('extensions on the command line', () => {
  it('take part in a run, and stop before its end', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./p.mjs'] },
      'p.mjs': `import { appendFileSync } from 'node:fs'
        const write = (line) => appendFileSync(new URL('./diary', import.meta.url), line + '\\n')
        ${manifest({
          start: `({ logger }) => ({
            hooks: { afterPublish: ({ status }) => { write(status); logger.warn({}, 'seen') } },
            stop: () => write('stopped'),
          })`,
        })}`,
    })
    workshop.takeVoice('speech.wav')
    const result = await run(['run', 'speech.wav', '--json', '--config', join(folder, 'config.json')])
    expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('p: seen') })
    expect(readFileSync(join(folder, 'diary'), 'utf8')).toBe('done\nstopped\n')
  })

  it('that leave faults uncaught harm no job', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./p.mjs'] },
      'p.mjs': manifest({
        start: `() => ({ hooks: {
          beforePlan: () => { Promise.reject(new Error('nobody waits')) },
          afterPlan: () => new Promise((resolve) => {
            setTimeout(() => { resolve(); throw new Error('nobody catches') })
          }),
        } })`,
      }),
    })
    workshop.takeVoice('speech.wav')
    // A fault that nobody catches is the process's own.
    const args = ['run', 'speech.wav', '--json', '--config', join(folder, 'config.json')]
    const result = await runCli(args, options())
    expect(result.stderr).toContain('The extension "p" did not catch a fault: nobody waits.')
    expect(result.stderr).toContain('The extension "p" did not catch a fault: nobody catches.')
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', exitCode: 0, done: 1 })
  })

  it('that wait for what never comes are left at Ctrl-C', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./p.mjs'] },
      'p.mjs': manifest({
        start: `({ logger }) => ({ hooks: {
          afterPlan: () => { logger.warn({}, 'waiting'); return new Promise(() => {}) },
        } })`,
      }),
    })
    workshop.takeVoice('speech.wav')
    const running = startCli(['run', 'speech.wav', '--json', '--config', join(folder, 'config.json')], options())
    await running.until(/p: waiting/)
    running.child.kill('SIGINT')
    const result = await running.ended
    expect(result.exitCode).toBe(130)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', exitCode: 130, pending: 1 })
    expect(server.charges).toBe(0)
  })

  it('that are wrong end it before anything is tried', async () => {
    const folder = strangersFolder({ 'config.json': { extensions: ['voxmux-extension-none'] } })
    workshop.takeVoice('speech.wav')
    const result = await run(['run', 'speech.wav', '--json', '--config', join(folder, 'config.json')])
    expect(eventsOf(result)).toEqual([
      expect.objectContaining({
        event: 'result',
        exitCode: 2,
        error: expect.objectContaining({ code: 'ERR_EXTENSION_MISSING' }),
      }),
    ])
    expect(server.calls.registerFile).toBe(0)
  })

  it('are listed by the doctor, good and bad', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./good.mjs', './bad.mjs'] },
      'good.mjs': manifest({ name: "'good'", description: "'does good'" }),
      'bad.mjs': 'export default 7',
    })
    const result = await run(['doctor', '--json', '--config', join(folder, 'config.json')])
    expect(result.exitCode).toBe(2)
    const extensions = eventsOf(result).filter(({ check }) => check === 'extension')
    expect(extensions).toMatchObject([
      { status: 'ok', detail: `good: does good (${join(folder, 'good.mjs')})` },
      { status: 'fault', detail: expect.stringContaining('is not a voxmux extension') },
    ])
  })
})
