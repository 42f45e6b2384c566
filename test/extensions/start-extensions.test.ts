import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.js'
import { startExtensions } from '../../src/extensions/start-extensions.js'
import { runJobs } from '../../src/pipeline/job/run-jobs.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'
import { jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { configOf, manifest, strangersFolder } from './extension-folder.js'

/** An extension that writes each thing that happens to it into a file. */
const diary = (name: string, hooks: string) => `
  import { appendFileSync } from 'node:fs'
  const write = (line) => appendFileSync(new URL('./diary', import.meta.url), '${name} ' + line + '\\n')
  ${manifest({
    name: `'${name}'`,
    start: `() => { write('start'); return { hooks: ${hooks}, stop: () => write('stop') } }`,
  })}`

const diaryOf = (folder: string) => readFileSync(join(folder, 'diary'), 'utf8').trimEnd().split('\n')

function listeningLogger() {
  const warnings: string[] = []
  return { warnings, logger: { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) } }
}

describe('extensions', () => {
  it('start in the order of the configuration and stop the other way round', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./a.mjs', './b.mjs'] },
      'a.mjs': diary('a', '{}'),
      'b.mjs': diary('b', '{}'),
    })
    const running = await startExtensions(await configOf(folder))
    expect(running.hooks.map(({ name }) => name)).toEqual(['a', 'b'])
    await running.stop()
    expect(diaryOf(folder)).toEqual(['a start', 'b start', 'b stop', 'a stop'])
  })

  it('that cannot start end the command, those before them stopped', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./a.mjs', './b.mjs'] },
      'a.mjs': diary('a', '{}'),
      'b.mjs': manifest({ name: "'b'", start: "() => { throw new Error('no key') }" }),
    })
    await expect(startExtensions(await configOf(folder))).rejects.toMatchObject({
      code: 'ERR_EXTENSION_START',
      message: 'The extension "b" cannot start: no key.',
    })
    expect(diaryOf(folder)).toEqual(['a start', 'a stop'])
  })

  it('are given their options, and a logger that says whose words they are', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: [['./p.mjs', { word: 'hello' }]] },
      'p.mjs': manifest({
        options: "{ type: 'object', properties: { word: { type: 'string' } } }",
        start: '({ options, logger }) => { logger.warn({}, options.word) }',
      }),
    })
    const { warnings, logger } = listeningLogger()
    await (await startExtensions(await configOf(folder), logger)).stop()
    expect(warnings).toEqual(['p: hello'])
  })

  it.each([
    ['a mistyped hook', "({ hooks: { beforPlan: () => 'no' } })", /has "beforPlan" \(did you mean "beforePlan"\?\)/],
    ['mistyped hooks', '({ hook: {} })', /has "hook" \(did you mean "hooks"\?\)/],
    ['a hook that is not a function', "({ hooks: { afterPlan: 'no' } })", /"afterPlan" is not a function/],
    ['a stop that is not a function', '({ stop: true })', /"stop" is not a function/],
    ['hooks that are none', '({ hooks: 7 })', /"hooks" is not an object/],
    ['a number', '7', /neither an object nor nothing/],
  ])('are not used where they return %s: it would never be called', async (_what, returned, message) => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./p.mjs'] },
      'p.mjs': manifest({ start: `() => ${returned}` }),
    })
    await expect(startExtensions(await configOf(folder))).rejects.toMatchObject({
      code: 'ERR_EXTENSION_START',
      message: expect.stringMatching(message),
      remedies: [expect.stringContaining('hooks are beforePlan, afterPlan')],
    })
  })

  it('may be an object of a class, which keeps more there', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./p.mjs'] },
      'p.mjs': `class Hooks { seen = []; prefix = () => 'no '; beforePlan({ input }) { return this.prefix() + input } }
        ${manifest({ start: '() => ({ hooks: new Hooks(), since: 1 })' })}`,
    })
    const { hooks, stop } = await startExtensions(await configOf(folder))
    const job = { input: '/a.mov', signal: new AbortController().signal } as Parameters<
      NonNullable<JobHooks['beforePlan']>
    >[0]
    expect(await hooks[0]?.beforePlan?.(job)).toBe('no /a.mov')
    await stop()
  })

  it('that never end are spoken of, and left when they are to stop', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./p.mjs'] },
      'p.mjs': manifest({ start: '() => new Promise(() => {})' }),
    })
    const config = await configOf(folder)
    const ending = new AbortController()
    const warnings: string[] = []
    const warn = (_: object, message: string) => {
      warnings.push(message)
      ending.abort()
    }
    const options = { patienceMs: 1, graceMs: 1, signal: ending.signal }
    await expect(startExtensions(config, { ...silentLogger, warn }, options)).rejects.toMatchObject({
      code: 'ERR_INTERRUPTED',
    })
    expect(warnings).toEqual(['The extension "p" is slow: it is starting, for 0 s so far.'])
  })

  it('none: nothing to start', async () => {
    const running = await startExtensions({ extensions: [] })
    expect(running.hooks).toEqual([])
    await running.stop()
  })
})

describe('extensions in the life of jobs', () => {
  const bench = jobBench()

  it('are told of each step; one that vetoes or throws harms only the job it does it to', async () => {
    const folder = strangersFolder({
      'config.json': { extensions: ['./diary.mjs', './trouble.mjs'] },
      'diary.mjs': diary(
        'd',
        `{
          beforePlan: ({ input }) => write('before ' + input.split('/').at(-1)),
          afterPlan: ({ output, plan }) => write('planned ' + output.split('/').at(-1) + ' ' + plan.tracks.length),
          onProgress: (job, stage, percent) => { if (stage === 'mux' && percent === 100) write('muxed') },
          afterPublish: ({ status, receipt }) => write(status + ' ' + receipt.schemaVersion),
          onFailure: ({ input, error }) => write(error.code + ' ' + input.split('/').at(-1)),
        }`,
      ),
      'trouble.mjs': manifest({
        name: "'trouble'",
        start: `() => ({ hooks: {
          beforePlan: () => null,
          afterPlan: async ({ input }) => {
            if (input.endsWith('.flac')) return 'no FLAC today'
            if (input.endsWith('.mp3')) throw new TypeError('cannot read it')
          },
          onProgress: async () => { throw new Error('always') },
        } })`,
      }),
    })
    const inputs = [await bench.take('speech.flac'), await bench.take('speech.mp3'), await bench.take('speech.wav')]
    const running = await startExtensions(await configOf(folder))
    const context = { ...bench.pipeline.context, hooks: running.hooks }
    const outcomes = await runJobs(
      inputs.map((input) => requestFor(input)),
      context,
      { concurrency: 1 },
    )
    await running.stop()
    expect(outcomes.map(({ event }) => [event.status, event.error?.code, event.error?.message])).toEqual([
      ['rejected', 'ERR_VETOED', expect.stringMatching(/"trouble" refused .*: no FLAC today/)],
      ['rejected', 'ERR_VETOED', expect.stringMatching(/"trouble" refused .*: cannot read it/)],
      ['done', undefined, undefined],
    ])
    expect(bench.server.charges).toBe(1)
    expect(diaryOf(folder)).toEqual([
      'd start',
      ...['d before speech.flac', 'd planned speech.regen.flac 1', 'd ERR_VETOED speech.flac'],
      ...['d before speech.mp3', 'd planned speech.regen.mp3 1', 'd ERR_VETOED speech.mp3'],
      ...['d before speech.wav', 'd planned speech.regen.wav 1', 'd muxed', 'd done 1'],
      'd stop',
    ])
  })
})
