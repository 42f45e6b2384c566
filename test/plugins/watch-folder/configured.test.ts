import { createHash, createHmac } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { basename, dirname, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { WatchFolderSettings } from '../../../src/config/watch-schema.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import type { RunningCli } from '../../helpers/voxmux-cli.js'
import { withServer } from '../../service/support/file-server.js'
import { filesBelow, sha256Of, watchBench } from './watch-bench.js'

const SOAK = Boolean(process.env.VOXMUX_SOAK)
const MANY = SOAK ? 50 : 10
/** In so many of them files are put: two each, and five into the first. */
const FILLED = SOAK ? MANY : 3
/** Many jobs on a machine that has other tests to run. */
const LONG_MS = SOAK ? 1_800_000 : 180_000

/** Puts the clock of the daemon back by a day once a file is there. */
const CLOCK = (trigger: string) => `
import { existsSync } from 'node:fs'
const real = Date.now
let backMs = 0
setInterval(() => { if (existsSync(${JSON.stringify(trigger)})) backMs = 86_400_000 }, 20).unref()
globalThis.Date = class extends Date {
  constructor(...args) { super(...(args.length === 0 ? [real() - backMs] : args)) }
  static now() { return real() - backMs }
}
`

describe('voxmux watch, as it is configured', () => {
  const bench = watchBench()
  const isPublished = (name: string) => existsSync(bench.file(`${name}.voxmux.json`))

  /** Makes folders below the watched one. @returns the configuration that watches them */
  const configure = (folders: Readonly<Record<string, Omit<WatchFolderSettings, 'path'>>>): string => {
    const config = bench.workshop.path('voxmux.json')
    for (const name of Object.keys(folders)) mkdirSync(bench.file(name), { recursive: true })
    const listed = Object.entries(folders).map(([name, settings]) => ({ path: bench.file(name), ...settings }))
    writeFileSync(config, JSON.stringify({ watch: { folders: listed } }))
    return config
  }
  const watch = async (folders: Parameters<typeof configure>[0]): Promise<RunningCli> => {
    const daemon = bench.watchConfigured(configure(folders))
    await daemon.until(/"event":"watching"/)
    return daemon
  }

  it('takes no output of voxmux for a source, neither its own when they go elsewhere from now on nor those of another folder', async () => {
    const once = async (folders: Parameters<typeof configure>[0]) => {
      const { exitCode, stderr } = await bench.onceConfigured(configure(folders))
      expect(exitCode, stderr).toBe(0)
      return stderr
    }
    mkdirSync(bench.file('first'))
    writeFileSync(bench.file('first/a.wav'), tinyWave(1))
    await once({ first: {} })
    expect(await once({ first: { out: bench.file('second') } })).toMatch(/out\/a\.wav is skipped/)
    expect([bench.names('second'), bench.server.charges]).toEqual([[], 1])
    expect(await once({ 'first/out': { out: bench.file('second') } })).toMatch(/out\/a\.wav is skipped/)
    expect([bench.names('second'), bench.server.charges]).toEqual([[], 1])
  })

  it('takes a file of a person that has the name and the size of an output', async () => {
    const once = (folders: Parameters<typeof configure>[0]) => bench.onceConfigured(configure(folders))
    mkdirSync(bench.file('first'))
    writeFileSync(bench.file('first/a.wav'), tinyWave(1))
    await once({ first: {} })
    // Restored from a back-up, it is as old as it was there.
    const output = bench.file('first/out/a.wav')
    writeFileSync(bench.file('other.wav'), tinyWave(2))
    expect(statSync(bench.file('other.wav')).size).toBe(statSync(output).size)
    utimesSync(bench.file('other.wav'), 1, 1)
    renameSync(bench.file('other.wav'), output)
    await once({ 'first/out': { out: bench.file('second') } })
    expect([bench.names('second'), bench.server.charges]).toEqual([['a.wav', 'a.wav.voxmux.json'], 2])
  })

  it('is watched once, whatever links lead to it', async () => {
    mkdirSync(bench.file('real/day'), { recursive: true })
    symlinkSync(bench.file('real'), bench.file('alias'))
    writeFileSync(bench.file('real/a.wav'), tinyWave(1))
    const twice = await bench.onceConfigured(configure({ real: {}, alias: {} }))
    expect([twice.exitCode, twice.stderr]).toEqual([2, expect.stringMatching(/alias is the same folder as .*real/)])

    // Its sub-folder, and its folder for moved sources, by another name.
    writeFileSync(bench.file('real/day/b.wav'), tinyWave(2))
    const [out, done] = ['alias/out', 'alias/done'].map((name) => bench.file(name)) as [string, string]
    const nested = configure({ real: { source: 'move', out, done }, 'alias/day': { source: 'move' } })
    for (let run = 0; run < 2; run++) expect((await bench.onceConfigured(nested)).stderr).not.toContain('known already')
    expect(bench.names('real').filter((name) => name.endsWith('.wav'))).toEqual([
      ...['day/done/b.wav', 'day/out/b.wav', 'done/a.wav', 'out/a.wav'],
    ])
    expect(bench.server.charges).toBe(2)
  })

  it('moves the source that was read, touched meanwhile or not, and never a newer version', {
    timeout: LONG_MS,
  }, async () => {
    bench.server.fail('registerFile', { kind: 'status', status: 503 }, Number.POSITIVE_INFINITY)
    const daemon = await watch({ in: { source: 'move' } })
    for (const [index, name] of ['plain.wav', 'touched.wav', 'newer.wav'].entries())
      writeFileSync(bench.file(`in/${name}`), tinyWave(index))
    // In hand, and read: they only wait for the service.
    await daemon.until(/("stage":"cut"[\s\S]*){3}/)
    utimesSync(bench.file('in/touched.wav'), new Date(), new Date(1e12))
    writeFileSync(bench.file('in/newer.part'), tinyWave(3))
    renameSync(bench.file('in/newer.part'), bench.file('in/newer.wav'))
    bench.server.heal()
    await until(() => bench.names('in').every((name) => name.includes('/')))
    expect(bench.names('in/done')).toEqual(['newer.wav', 'plain.wav', 'touched.wav'])
    expect(readFileSync(bench.file('in/done/newer.wav')).equals(tinyWave(3))).toBe(true)
    // The newer version has taken the place of the older one.
    const receipt = JSON.parse(readFileSync(bench.file('in/out/newer.wav.voxmux.json'), 'utf8'))
    expect(receipt.input.sha256).toBe(sha256Of(bench.file('in/done/newer.wav')))
    // The older one was not started any more.
    expect(bench.server.charges).toBe(3)
    expect(bench.names('in/failed')).toEqual([])
  })

  it('puts away what is dropped again after it was done and moved, without paying', { timeout: LONG_MS }, async () => {
    await watch({ in: { source: 'move' } })
    const drop = async (name: string, movedTo: string) => {
      writeFileSync(bench.file(`in/${name}`), tinyWave(1))
      await until(() => existsSync(bench.file(`in/done/${movedTo}`)) && !existsSync(bench.file(`in/${name}`)))
    }
    await drop('a.wav', 'a.wav')
    await drop('a.wav', 'a~2.wav')
    await drop('b.wav', 'b.wav')
    for (const name of ['a.wav', 'a~2.wav', 'b.wav'])
      expect(readFileSync(bench.file(`in/done/${name}`)).equals(tinyWave(1))).toBe(true)
    expect(bench.names('in/out').filter((name) => name.endsWith('.wav'))).toEqual(['a.wav'])
    expect(bench.server.charges).toBe(1)
  })

  it('takes what is included and not excluded, once its marker is there or the copy tool has renamed it', {
    timeout: LONG_MS,
  }, async () => {
    const daemon = await watch({
      marked: { include: ['*.wav', 'day/**'], exclude: ['proxy*'], marker: '{name}.done' },
      renamed: { renamedFrom: '{name}.uploading' },
    })
    mkdirSync(bench.file('marked/day'))
    for (const [n, name] of ['a.wav', 'b.wav', 'day/c.wav', 'day/proxy.wav', 'proxy.wav', 'd.aif'].entries())
      writeFileSync(bench.file(`marked/${name}`), tinyWave(n))
    for (const name of ['a.wav', 'day/proxy.wav', 'proxy.wav', 'd.aif'])
      writeFileSync(bench.file(`marked/${name}.done`), '')
    writeFileSync(bench.file('renamed/e.wav.uploading'), tinyWave(6))
    await daemon.until(/b\.wav","why":"marker/)
    await until(() => isPublished('marked/out/a.wav'))
    expect(bench.server.charges).toBe(1)
    writeFileSync(bench.file('marked/day/c.wav.done'), '')
    renameSync(bench.file('renamed/e.wav.uploading'), bench.file('renamed/e.wav'))
    await until(() => isPublished('marked/out/day/c.wav') && isPublished('renamed/out/e.wav'))
    const outputs = ['marked/out', 'renamed/out'].flatMap((name) => bench.names(name))
    expect(outputs.filter((name) => name.endsWith('.wav'))).toEqual(['a.wav', 'day/c.wav', 'e.wav'])
    expect(bench.names('marked/failed')).toEqual([])
    expect(bench.server.charges).toBe(3)
  })

  it('names outputs by the template, and calls command and webhook after done and failed files, with why and where to look', async () => {
    const posted: { readonly body: Record<string, unknown>; readonly headers: IncomingHttpHeaders; text: string }[] = []
    const url = await withServer(async (request, response) => {
      const body = await text(request)
      posted.push({ body: JSON.parse(body), headers: request.headers, text: body })
      response.writeHead(204).end()
    })
    const told = bench.workshop.path('told')
    const command = ['/bin/sh', '-c', `printf '%s|' "$@" $VOXMUX_STATUS >> '${told}'; echo >> '${told}'`, 'sh']
    const config = configure({ in: { name: '{preset}/{name}.clean{ext}', after: { command, webhook: `${url}/hook` } } })
    const { watch } = JSON.parse(readFileSync(config, 'utf8'))
    const webhookSecret = `whsec_${Buffer.from('key').toString('base64')}`
    const dashboard = { port: 0, publicUrl: 'https://voxmux.example/' }
    writeFileSync(config, JSON.stringify({ report: true, watch: { ...watch, webhookSecret, dashboard } }))
    const daemon = bench.watchConfigured(config)
    await daemon.until(/"event":"watching"/)
    writeFileSync(bench.file('in/a.wav'), tinyWave(1))
    writeFileSync(bench.file('in/bad.wav'), 'no sound')
    await until(() => posted.length === 2)
    const [output, a, bad] = ['out/transparent/a.clean.wav', 'a.wav', 'bad.wav'].map((name) => bench.file(`in/${name}`))
    expect(isPublished('in/out/transparent/a.clean.wav')).toBe(true)
    await until(() => readFileSync(told, 'utf8').split('\n').length === 3)
    expect(readFileSync(told, 'utf8').split('\n').filter(Boolean).sort()).toEqual([
      `done|${output}|${a}|transparent|done|`,
      `rejected||${bad}|transparent|rejected|`,
    ])
    posted.sort((one, other) => String(one.body.status).localeCompare(String(other.body.status)))
    const failure = JSON.parse(readFileSync(bench.file('in/failed/bad.wav.json'), 'utf8'))
    const { code, errorCode, name, message, remedies } = failure
    expect(posted.map(({ body }) => body)).toMatchObject([
      { status: 'done', output, source: a, preset: 'transparent', error: null, report: `${output}.voxmux.html` },
      {
        ...{ status: 'rejected', output: null, source: bad, preset: 'transparent' },
        error: { code, errorCode, name, message, remedies },
        dashboard: `https://voxmux.example/#job/${failure.job}`,
        report: bench.file('in/failed/bad.wav.json'),
      },
    ])
    expect([code, remedies]).toEqual([
      'ERR_UNREADABLE',
      expect.arrayContaining([expect.stringContaining('text editor')]),
    ])
    for (const { headers, text: body } of posted) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', 'key').update(signed).digest('base64')}`)
    }
  })

  it('calls the command also where a symlink forbids a report or a move, and says so', async () => {
    const told = bench.workshop.path('told')
    const command = ['/bin/sh', '-c', `echo "$1 $3" >> '${told}'`, 'sh']
    mkdirSync(bench.workshop.path('elsewhere'))
    for (const name of ['failed', 'done', 'lost', 'out-of-it']) mkdirSync(bench.file(`in/${name}`), { recursive: true })
    for (const link of ['failed/lost', 'done/lost']) symlinkSync('nowhere', bench.file(`in/${link}`))
    symlinkSync('../../../elsewhere', bench.file('in/failed/out-of-it'))
    const daemon = await watch({ in: { source: 'move', after: { command } } })
    writeFileSync(bench.file('in/lost/a.wav'), tinyWave(1))
    for (const name of ['lost/bad.wav', 'out-of-it/bad.wav']) writeFileSync(bench.file(`in/${name}`), 'no sound')
    const lines = () => (existsSync(told) ? readFileSync(told, 'utf8').split('\n').filter(Boolean).sort() : [])
    await until(() => lines().length === 3)
    expect(lines()).toEqual([
      `done ${bench.file('in/lost/a.wav')}`,
      ...['lost', 'out-of-it'].map((name) => `rejected ${bench.file(`in/${name}/bad.wav`)}`),
    ])
    expect(daemon.said()).toMatch(
      /The source was not moved: \S+done\/lost is or lies behind a symlink that leads nowhere/,
    )
    expect(daemon.said()).toMatch(/The failure was not reported: \S+failed\/out-of-it leads out of/)
    expect(filesBelow(bench.workshop.path('elsewhere'))).toEqual([])
  })

  it(`looks after ${MANY} folders in turn, the urgent one first, each with its own outputs`, {
    timeout: LONG_MS,
  }, async () => {
    const names = Array.from({ length: MANY }, (_, n) => (n % 10 === 9 ? `f${n - 1}/nested` : `f${n}`))
    const filled = names.slice(-FILLED)
    const urgent = filled.at(-1) ?? ''
    const config = configure(Object.fromEntries(names.map((name) => [name, { priority: name === urgent ? 1 : 0 }])))
    const waves = new Map<string, Buffer>()
    for (const [n, name] of filled.entries())
      for (let file = 0; file < (n === 0 ? 5 : 2); file++) waves.set(`${name}/${file}.wav`, tinyWave(10 * n + file))
    for (const [path, wave] of waves) writeFileSync(bench.file(path), wave)
    // All are there before the first is begun: none is early because it was found early.
    expect((await bench.onceConfigured(config, '--ingest-only')).exitCode).toBe(0)
    expect(bench.server.calls.registerFile).toBe(0)
    const result = await bench.onceConfigured(config)
    expect(result.exitCode, result.stderr).toBe(0)

    const begun = result.stderr.split('\n').flatMap((line) => {
      const entry = line.startsWith('{') ? JSON.parse(line) : {}
      return entry.msg === 'job begins' ? [relative(bench.file(''), entry.group)] : []
    })
    const others = filled.slice(0, -1)
    expect(begun.slice(0, 2)).toEqual([urgent, urgent])
    for (const round of [0, 1]) {
      const turns = begun.slice(2 + round * others.length, 2 + (round + 1) * others.length)
      expect(turns.toSorted()).toEqual(others.toSorted())
    }
    expect(begun.slice(2 + 2 * others.length)).toEqual(Array(3).fill(filled[0]))

    for (const [path, wave] of waves) {
      const receipt = JSON.parse(readFileSync(bench.file(`${dirname(path)}/out/${basename(path)}.voxmux.json`), 'utf8'))
      expect(receipt.input.sha256).toBe(createHash('sha256').update(wave).digest('hex'))
    }
    expect(bench.names('').filter((path) => path.endsWith('.voxmux.json'))).toHaveLength(waves.size)
    expect(bench.server.charges).toBe(waves.size)
  })

  it('goes on by its own clock where that of the system is set back by a day', async () => {
    const [trigger, hook] = [bench.workshop.path('set-back'), bench.workshop.path('clock.mjs')]
    writeFileSync(hook, CLOCK(trigger))
    const daemon = bench.watchThrough(['env', `NODE_OPTIONS=--import=${hook}`])
    await daemon.until(/"event":"watching"/)
    bench.server.fail('registerFile', { kind: 'status', status: 503 }, 12)
    writeFileSync(bench.file('before.wav'), tinyWave(1))
    await daemon.until(/"job begins"/)
    writeFileSync(trigger, '')
    writeFileSync(bench.file('after.wav'), tinyWave(2))
    await until(() => isPublished('out/after.wav') && isPublished('out/before.wav'))
    expect(bench.server.charges).toBe(2)
    expect(bench.names('failed')).toEqual([])
  })
})
