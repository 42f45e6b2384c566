import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { testFolder } from '../helpers/media-factory.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'

const run = promisify(execFile)
const DIST = fileURLToPath(new URL('../../dist/', import.meta.url))

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly man: readonly string[]
}

/** Modules that a command may load before its work begins. Each costs a lookup and a read, also for a user. */
const MOST_MODULES = 250

it('has every class of error once, so that what an extension throws is what the command catches', () => {
  const definitions = readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => readFileSync(join(DIST, name), 'utf8').match(/VoxmuxError = class extends/g) ?? [])
  expect(definitions).toHaveLength(1)
})

it('has types of installed packages only', () => {
  const { dependencies } = JSON.parse(readFileSync(join(DIST, '../package.json'), 'utf8')) as Manifest
  const declarations = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))
  const imported = declarations.flatMap((name) =>
    [...readFileSync(join(DIST, name), 'utf8').matchAll(/(?:from |import\()['"]((?:@[^/]+\/)?[^'"./][^'"/]*)/g)].map(
      ([, from = '']) => from,
    ),
  )
  expect(imported).toContain('zod')
  const known = ['voxmux', ...Object.keys(dependencies)]
  const absent = imported.filter((from) => !from.startsWith('node:') && !known.includes(from))
  expect([...new Set(absent)]).toEqual([])
})

it('lists its man page, because npm links none that is not in a list', () => {
  const { man } = JSON.parse(readFileSync(join(DIST, '../package.json'), 'utf8')) as Manifest
  expect(man).toEqual(['./docs/voxmux.1'])
})

it('names every error after its class', async () => {
  const script = `import * as all from ${JSON.stringify(pathToFileURL(join(DIST, 'src/index.js')))}
    const errors = Object.entries(all).filter(([, value]) => value?.prototype instanceof Error)
    console.log(JSON.stringify(errors.map(([name, { name: own }]) => [name, own])))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  const names = JSON.parse(stdout) as [string, string][]
  expect(names.length).toBeGreaterThan(5)
  for (const [name, own] of names) expect(own).toBe(name)
})

it('starts a command with few modules', async () => {
  const loaded = await modulesOf(['run', '--help'])
  expect(loaded.length).toBeGreaterThan(10)
  expect(loaded.length).toBeLessThan(MOST_MODULES)
})

it('manages a service without loading its HTTP server or what writes media', async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const loaded = await modulesOf(['portal', 'keys', 'create', '--name', 'test', '--data', folder.file('service')])
  const text = loaded.map((path) => readFileSync(path, 'utf8')).join('\n')
  expect(text).toContain('// src/service/portal/portal.ts')
  for (const part of ['node_modules/fastify', 'src/service/http', 'src/media/write']) {
    expect(text).not.toContain(`// ${part}/`)
  }
})

it('is the same module for CommonJS, with types of its own', async () => {
  const require = createRequire(import.meta.url)
  for (const name of ['voxmux', 'voxmux/service', 'voxmux/step', 'voxmux/plugins/hls']) {
    const script = `import('${name}').then((all) => console.log(all === require('${name}')))`
    const { stdout } = await run(process.execPath, ['--input-type=commonjs', '--eval', script], { cwd: DIST })
    expect([name, stdout]).toEqual([name, 'true\n'])
    expect(readFileSync(require.resolve(name).replace(/\.cjs$/, '.d.cts'), 'utf8')).toContain('export ')
  }
})

/** The files that a command loads. */
async function modulesOf(args: readonly string[]): Promise<readonly string[]> {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  await run(process.execPath, [CLI_PATH, ...args], { env: { ...process.env, NODE_V8_COVERAGE: folder.path } })
  const [report = ''] = readdirSync(folder.path)
  const { result } = JSON.parse(readFileSync(folder.file(report), 'utf8')) as { result: { url: string }[] }
  return result.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url))
}
