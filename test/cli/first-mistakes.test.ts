import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { examineSpace } from '../../src/cli/doctor/examine.js'
import { nativeFault } from '../../src/cli/native-fault.js'
import { requireOutputFolder } from '../../src/cli/require-output-folder.js'
import { partLines } from '../../src/cli/show/part-lines.js'
import { openLedger } from '../../src/ledger/index.js'
import { probe } from '../../src/media/index.js'
import { planJob } from '../../src/pipeline/plan/plan-job.js'
import { parseSegment } from '../../src/pipeline/plan/segments.js'
import { commandInProcess } from '../helpers/command-in-process.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'
import { request } from '../ledger/store-fixture.js'

let shop: Workshop
beforeAll(() => {
  shop = openWorkshop()
  shop.take('speech.wav')
})
afterAll(() => shop.remove())

const voxmux = (...args: readonly string[]) => commandInProcess(args, { cwd: shop.dir, env: shop.env })

it('refuses an output in a folder that does not exist, and names the first part that is missing', async () => {
  for (const [output, missing] of [
    ['exprots/x.wav', 'exprots'],
    ['exprots/new/', 'exprots'],
    ['exprots/deep/er/x.wav', 'exprots'],
  ] as const) {
    const { code, stderr } = await voxmux('speech.wav', '-o', output)
    expect([code, existsSync(shop.path('exprots'))]).toEqual([2, false])
    expect(stderr).toContain(`voxmux: ${shop.path(missing)} does not exist, so `)
    expect(stderr).toContain('→ Correct --output')
  }
  for (const output of ['newd', 'newd/', 'x.wav', '/x.wav'])
    expect(() => requireOutputFolder(output, shop.dir)).not.toThrow()
  expect((await voxmux('timeline', 'a.edl', '-o', 'exprots/cut/')).stderr).toContain('exprots does not exist, so cut')
})

it('names the seconds of the parts in a plan, and those that the end of the file clips', async () => {
  const input = shop.path('speech.wav')
  const { durationSec } = await probe(input)
  const end = durationSec?.toFixed(3).replace(/0{1,2}$/, '')
  const parts = async (...typed: string[]) => {
    const request = requestFor(input, { segments: typed.map(parseSegment) })
    return partLines(await planJob(request, {}), request.settings.segments)
  }
  expect(await parts()).toEqual([])
  expect(await parts('0.5-1.25', '2-99')).toEqual(['0.5–1.25 s', `2.0–${end} s (clipped at the end of the file)`])
  expect(await parts('0-99')).toEqual([`0.0–${end} s (clipped at the end of the file)`])
  expect(await parts('1-')).toEqual([`1.0–${end} s`])
  const many = Array.from({ length: 10 }, (_, index) => `${index / 5}-${index / 5 + 0.1}`)
  expect((await parts(...many)).slice(7)).toEqual(['1.4–1.5 s', 'and 2 more'])
})

it.each(['', '\u001b[31m'])('calls a text with the name of a film a text, as %j begins it', async (colour) => {
  const page = `${colour}<html>Not found: the link has expired. Déjà vu.</html>\n`
  writeFileSync(shop.path('page.mp4'), page.repeat(80))
  const { code, stderr } = await voxmux('page.mp4', '--progress', 'none')
  expect([code, stderr]).toEqual([5, expect.stringContaining('page.mp4 was refused: it is text, not media.')])
})

it('says what stands in place of a file or a folder, and makes none', async () => {
  writeFileSync(shop.path('mine.jsonc'), '{}')
  for (const [args, message] of [
    [
      ['serve', '--data', '/dev/null/x'],
      'The data folder /dev/null/x cannot be used: a part of its path is not a folder.',
    ],
    [['jobs', 'list', '--ledger', 'typo.sqlite'], `The ledger ${shop.path('typo.sqlite')} does not exist.`],
    [['jobs', 'list', '--ledger', '.'], `${shop.dir} is a folder, and a database is a file.`],
    [['worker', '--spool', 'speech.wav'], `The spool folder ${shop.path('speech.wav')} is not a folder.`],
    [['speech.wav', '-p', 'mine.jsonc'], 'To use your own preset, give its path: ./mine.jsonc\n'],
    [['speech.wav', '-o', 'speech.wav', '--force'], 'The output would replace the input'],
    [['serve', '--host', '192.0.2.1', '--data', 'data'], '192.0.2.1: this machine does not have that address.'],
  ] as const) {
    const { code, stderr } = await voxmux(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  expect(existsSync(shop.path('typo.sqlite'))).toBe(false)
})

it('says why a pattern or a ~ names no file', async () => {
  expect((await voxmux('*.mkv', '--progress', 'none')).stderr).toContain('→ No file matches this pattern')
  expect((await voxmux('~/x.mov', '--progress', 'none')).stderr).toContain('→ The shell replaces ~ only at the start')
})

it('suggests the flag that a word begins or continues', async () => {
  expect((await voxmux('speech.wav', '--out', 'x.wav')).stderr).toContain('did you mean --output?')
  expect((await voxmux('watch', 'in', '--output', 'x')).stderr).toContain('did you mean --out?')
})

it('repeats a number that it cannot read, and writes a comma as a point', async () => {
  const comma = await voxmux('speech.wav', '--mix', '50,5', '--dry-run')
  expect(comma).toMatchObject({ code: 2, stderr: expect.stringContaining('--mix takes a number, not "50,5".') })
  expect(comma.stderr).toContain('→ Write a point instead of the comma: --mix 50.5')
  expect((await voxmux('speech.wav', '--mix=50%', '--dry-run')).stderr).toContain('a number, not "50%".')
  expect((await voxmux('jobs', 'list', '--limit', 'all')).stderr).toContain('--limit takes a number, not "all".')
  expect((await voxmux('jobs', 'forget', '--ended-days', '3,5')).stderr).toContain('→ Write a point instead')
  expect((await voxmux('speech.wav', '--mix', '150')).stderr).toContain('--mix must be at most 100.')
})

it('says that a flag at the end of a line lacks its value', async () => {
  for (const args of [
    ['serve', '--data'],
    ['portal', 'show', '--data'],
    ['ui', '--port'],
  ])
    expect((await voxmux(...args)).stderr).toContain(`voxmux: ${args.at(-1)} needs a value.`)
})

it('suggests containers for sound if the input has no picture', async () => {
  const sound = await voxmux('speech.wav', '-o', 'x.xyz', '--progress', 'none')
  expect(sound).toMatchObject({ code: 2, stderr: expect.stringContaining('voxmux does not write .xyz files.') })
  expect(sound.stderr).toContain('→ Choose another container, for example wav, flac or m4a.')
  shop.take('phone.mp4')
  expect((await voxmux('phone.mp4', '-o', 'x.xyz', '--progress', 'none')).stderr).toContain('for example mkv or mov.')
})

it('names the page on this computer that has all keys', async () => {
  writeFileSync(shop.path('wrong.json'), '{"mixx":1}')
  const { stderr } = await voxmux('speech.wav', '--config', 'wrong.json')
  expect(existsSync(/→ See (\S+configuration\.md) for all keys/.exec(stderr)?.[1] ?? '')).toBe(true)
})

it('names each port that is in use, and what changes it', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { readonly port: number }
  const { code, stderr } = await voxmux('serve', '--port', String(port - 1), '--data', 'data')
  expect(code).toBe(2)
  expect(stderr).toContain(`Port ${port - 1} cannot be used: the storage needs the next port, ${port}, which is`)
  expect(stderr).toContain(`→ Choose a --port with a free one after it, such as ${port + 1},`)

  const before = createServer().listen(port - 1, '127.0.0.1')
  await once(before, 'listening')
  onTestFinished(() => void before.close())
  const both = await voxmux('serve', '--port', String(port - 1), '--data', 'data')
  expect(both.stderr).toContain(`Ports ${port - 1} (service) and ${port} (storage) of 127.0.0.1 are already in use.`)
  expect(both.stderr).toMatch(/→ Choose a --port with a free one after it.*\n.*→ Or name another port for the storage/)

  writeFileSync(shop.path('own.json'), JSON.stringify({ storagePort: port }))
  const own = await voxmux('serve', '--port', '0', '--data', 'data', '--settings', 'own.json')
  expect(own.stderr).toContain(`Port ${port} of 127.0.0.1, which \`storagePort\` names, is already in use.`)
  expect(own.stderr).not.toContain('--port')
})

it('shows a full disk as a fault, and little space with the next step', () => {
  expect(examineSpace('/state', 5e6)).toMatchObject({ status: 'fault', exitCode: 4 })
  expect(examineSpace('/state', 5e6).detail).toBe('The disk is almost full: 5 MB free.')
  expect(examineSpace('/state', 1e9)).toMatchObject({ status: 'note', exitCode: 0 })
  expect(examineSpace('/state', 5e9)).toMatchObject({ status: 'ok', remedies: [] })
  for (const free of [5e6, 1e9])
    expect(examineSpace('/state', free).remedies).toEqual([expect.stringContaining('disk of /state, or name')])
})

it('says which package with native code is missing, and how to install it', () => {
  const thrown = (name: string): unknown => {
    try {
      return createRequire(import.meta.url)(name)
    } catch (error) {
      return error
    }
  }
  expect(nativeFault(thrown('@libsql/none-of-ours'))).toMatchObject({
    ...{ code: 'ERR_NATIVE_PACKAGE', exitCode: 2 },
    message: expect.stringContaining(
      'The package @libsql/none-of-ours with the native code of voxmux is not installed',
    ),
    remedies: [expect.stringContaining('npm install --global --include=optional voxmux'), expect.any(String)],
  })
  const foreign = shop.path('node_modules_x.node')
  writeFileSync(foreign, 'not a library')
  const other = thrown('./no-such-file.js')
  expect(nativeFault(other)).toBe(other)
  expect(nativeFault('text')).toBe('text')
})

it('keeps the secret of a signed address, and finds its job by that address', async () => {
  const address = 'http://127.0.0.1:1/speech.wav?sig=hush'
  const failed = await voxmux('run', address, '--dry-run', '--json')
  expect(failed).toMatchObject({ code: 2, stdout: expect.stringContaining('speech.wav?[redacted]') })
  const unknown = await voxmux('jobs', 'show', address)
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('no job "http://127.0.0.1:1/speech.wav?[') })
  const ledger = await openLedger(shop.path('ledger.sqlite'))
  await ledger.jobs.enqueue(request('web', { input: 'http://127.0.0.1:1/speech.wav?[redacted]' }))
  await ledger.close()
  const shown = await voxmux('jobs', 'show', address, '--ledger', shop.path('ledger.sqlite'))
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('queued') })
  expect(JSON.stringify([failed, unknown, shown])).not.toContain('hush')
})
