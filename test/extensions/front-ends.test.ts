import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../helpers/fault-server.js'
import { until } from '../helpers/until.js'
import { type CliEvent, eventsOf, runCli, startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'
import { clip, external, timeline, timeRange, track } from '../plugins/timelines/otio-file.js'
import { manifest, strangersFolder } from './extension-folder.js'

let server: FaultServer
let workshop: Workshop
let config: string

/** Refuses one file before it is paid for, fails over another, and writes down the end of each. */
const EXTENSION = `import { appendFileSync } from 'node:fs'
  const write = (line) => appendFileSync(new URL('./diary', import.meta.url), line + '\\n')
  const named = ({ input }, name) => input.endsWith(name)
  ${manifest({
    name: "'house'",
    start: `() => ({
      hooks: {
        beforePlan: (job) => { if (named(job, 'broken.wav')) throw new TypeError('the extension has a fault') },
        afterPlan: (job) => named(job, 'refused.wav') ? 'not this one' : undefined,
        afterPublish: ({ input, status }) => write(status + ' ' + input.split('/').at(-1)),
        onFailure: ({ input, error }) => write(error.code + ' ' + input.split('/').at(-1)),
      },
      stop: () => write('stopped'),
    })`,
  })}`
const FILES = ['broken.wav', 'fine.wav', 'refused.wav']

beforeEach(async () => {
  server = await FaultServer.start()
  workshop = openWorkshop()
  const folder = strangersFolder({ 'config.json': { extensions: ['./house.mjs'] }, 'house.mjs': EXTENSION })
  config = join(folder, 'config.json')
  mkdirSync(workshop.path('in'))
  for (const name of FILES) workshop.takeVoice(`in/${name}`)
})
afterEach(async () => {
  workshop.remove()
  await server.close()
})

const options = () => ({ cwd: workshop.dir, env: { ...workshop.env, ...server.env } })
const diary = () => readFileSync(join(config, '../diary'), 'utf8').trimEnd().split('\n')
const run = (...args: readonly string[]) => runCli([...args, '--json', '--config', config], options())

/** What each end said: once a file, and the extension stopped at the end of all. */
function expectDiary(): void {
  const lines = diary()
  expect(lines.at(-1)).toBe('stopped')
  expect(lines.slice(0, -1).sort()).toEqual(['ERR_VETOED broken.wav', 'ERR_VETOED refused.wav', 'done fine.wav'])
  expect(server.charges).toBe(1)
}

function endOf(events: readonly CliEvent[], name: string): CliEvent | undefined {
  return events.find(({ event, input }) => event === 'file' && basename(String(input)) === name)
}

function expectEnds(events: readonly CliEvent[]): void {
  expect(endOf(events, 'fine.wav')).toMatchObject({ status: 'done', error: null })
  expect(endOf(events, 'refused.wav')).toMatchObject({
    status: 'rejected',
    error: { code: 'ERR_VETOED', message: expect.stringMatching(/"house" refused .*: not this one/) },
  })
  expect(endOf(events, 'broken.wav')).toMatchObject({
    status: 'rejected',
    error: { code: 'ERR_VETOED', message: expect.stringMatching(/"house" refused .*: the extension has a fault/) },
  })
}

describe('an extension takes part in the jobs of', () => {
  it('voxmux run', async () => {
    const result = await run('run', ...FILES.map((name) => `in/${name}`))
    expect(result.exitCode).toBe(5)
    expectEnds(eventsOf(result))
    expectDiary()
  })

  it('voxmux step', async ({ skip }) => {
    if (!process.env.VOXMUX_SOAK) skip('only in the soak')
    writeFileSync(workshop.path('jobs.json'), JSON.stringify(FILES.map((name) => ({ input: `in/${name}` }))))
    const result = await run('step', 'jobs.json')
    expect(result.exitCode).toBe(5)
    expectEnds(eventsOf(result))
    expectDiary()
  })

  it('voxmux watch, which says in failed/ why', async () => {
    const result = await run('watch', 'in', '--once', '--settle', '0.2', '--scan', '0.2')
    expect(result.exitCode).toBe(5)
    expectEnds(eventsOf(result))
    expectDiary()
    expect(readdirSync(workshop.path('in/failed')).sort()).toEqual(['broken.wav.json', 'refused.wav.json'])
    const report = JSON.parse(readFileSync(workshop.path('in/failed/refused.wav.json'), 'utf8'))
    expect(report).toMatchObject({ status: 'rejected', code: 'ERR_VETOED' })
    expect(report.message).toContain('not this one')
    expect(existsSync(workshop.path('in/out/fine.wav'))).toBe(true)
  })

  it('voxmux watch, which stops it even if the daemon cannot open its own files', async () => {
    mkdirSync(join(String(workshop.env.VOXMUX_STATE_DIR), 'watch.sqlite'), { recursive: true })
    const result = await run('watch', 'in', '--once')
    expect(result.exitCode).not.toBe(0)
    expect(diary()).toEqual(['stopped'])
  })

  it('voxmux worker', async () => {
    mkdirSync(workshop.path('spool'))
    for (const name of FILES) {
      writeFileSync(workshop.path(`spool/${name}.json`), JSON.stringify({ input: workshop.path(`in/${name}`) }))
    }
    const worker = startCli(['worker', '--spool', 'spool', '--json', '--config', config], options())
    onTestFinished(() => void worker.child.kill('SIGKILL'))
    await until(() => existsSync(join(config, '../diary')) && diary().length === FILES.length)
    worker.child.kill('SIGTERM')
    const result = await worker.ended
    expect(result.exitCode).toBe(0)
    expectEnds(eventsOf(result))
    expectDiary()
  })

  it('voxmux timeline, which is not written where a file of it is refused', async () => {
    const cut = (...names: readonly string[]) =>
      timeline([
        track(
          'Audio',
          names.map((name) => clip(name, external(`in/${name}`), timeRange(5, 15, 25))),
        ),
      ])
    writeFileSync(workshop.path('cut.otio'), cut(...FILES))
    const refused = await run('timeline', 'cut.otio')
    expect(refused.exitCode).toBe(5)
    expectEnds(eventsOf(refused))
    expectDiary()
    expect(existsSync(workshop.path('cut.regen.otio'))).toBe(false)
    rmSync(join(config, '../diary'))
    writeFileSync(workshop.path('cut.otio'), cut('fine.wav'))
    expect((await run('timeline', 'cut.otio')).exitCode).toBe(0)
    // The file is done since the first time, and was told then.
    expect(diary()).toEqual(['stopped'])
    expect(existsSync(workshop.path('cut.regen.otio'))).toBe(true)
  })
})
