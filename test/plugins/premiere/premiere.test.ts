import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { spooledJobs } from '../../helpers/spooled-jobs.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'

const path = (name: string) => fileURLToPath(new URL(`../../../plugins/premiere/${name}`, import.meta.url))
/** The folder of the types that Adobe publishes. */
const TYPES = process.env.VOXMUX_ADOBE_TYPES ?? ''
if (!existsSync(TYPES))
  process.stderr.write('The panel for Premiere is not type-checked: VOXMUX_ADOBE_TYPES is not set.\n')

const folder = folderOfEachTest()

interface Field {
  value: string
  checked: boolean
  textContent: string
  press: () => unknown
  addEventListener: (event: string, press: () => unknown) => void
}

/** A stand-in for Premiere: the selection of a project, and the files that it can import. */
function startPanel(selected: readonly (string | null)[], importable: readonly string[], values: object = {}) {
  const [imported, tokens] = [[] as string[], new Map<string, string>()]
  const elements = new Map<string, Field>()
  const elementOf = (id: string) => {
    const made: Field = {
      value: '',
      checked: false,
      textContent: '',
      ...values,
      press: () => {},
      addEventListener: () => {},
    }
    const element = elements.get(id) ?? made
    element.addEventListener = (_, press) => {
      element.press = press
    }
    elements.set(id, element)
    return element
  }
  const spool = {
    nativePath: folder.path,
    createFile: async (name: string) => ({ name, write: (text: string) => writeFile(folder.file(name), text) }),
    renameEntry: ({ name }: { name: string }, to: string) => rename(folder.file(name), folder.file(to)),
  }
  const uxp = {
    storage: {
      localFileSystem: {
        getFolder: async () => spool,
        createPersistentToken: async () => 'token',
        getEntryForPersistentToken: async (token: string) => (token === 'token' ? spool : null),
      },
    },
  }
  const project = {
    importFiles: async (files: string[]) =>
      files.every((file) => importable.includes(file)) && imported.push(...files) > 0,
  }
  const premierepro = {
    Project: { getActiveProject: async () => project },
    ProjectUtils: { getSelection: async () => ({ getItems: async () => selected }) },
    ClipProjectItem: { cast: (item: string | null) => item && { getMediaFilePath: async () => item } },
  }
  runInNewContext(readFileSync(path('panel.js'), 'utf8'), {
    require: (name: string) => ({ uxp, premierepro })[name],
    localStorage: {
      getItem: (key: string) => tokens.get(key) ?? null,
      setItem: (key: string, value: string) => tokens.set(key, value),
    },
    document: { getElementById: elementOf, addEventListener: (_: string, begin: () => void) => begin() },
  })
  const press = async (id: string) => {
    await elementOf(id).press()
    return elementOf('message').textContent
  }
  return { press, imported }
}

describe('the panel for Premiere', () => {
  it('queues each selected clip once, and imports what is finished', async () => {
    const clips = ['/films/a.b/take 1.mov', 'C:\\films\\take2.mxf', null, '/films/a.b/take 1.mov']
    const { press, imported } = startPanel(clips, ['/films/a.b/take 1.regen.mov'], {
      value: ' podcast ',
      checked: true,
    })
    expect(await press('queue')).toBe('Choose the spool folder first.')
    expect(await press('choose')).toBe(`Jobs go to ${folder.path}.`)
    expect(await press('queue')).toBe('Queued: 2.')
    const settings = { preset: 'podcast', addTrack: true }
    const jobs = await spooledJobs(folder.path)
    expect(jobs).toHaveLength(2)
    expect(jobs).toEqual(
      expect.arrayContaining([
        { input: '/films/a.b/take 1.mov', output: '/films/a.b/take 1.regen.mov', ...settings },
        { input: 'C:\\films\\take2.mxf', output: 'C:\\films\\take2.regen.mxf', ...settings },
      ]),
    )
    expect(await press('import')).toBe('Imported: 1. Not finished: 1.')
    expect(imported).toEqual(['/films/a.b/take 1.regen.mov'])
  })

  it('asks for no permission but the folder that the user chooses', () => {
    const manifest = JSON.parse(readFileSync(path('manifest.json'), 'utf8'))
    expect(manifest).toMatchObject({ manifestVersion: 5, host: { app: 'premierepro' }, main: 'index.html' })
    expect(manifest.requiredPermissions).toEqual({ localFileSystem: 'request' })
  })

  it.skipIf(!existsSync(TYPES))('fits the types that Adobe publishes', async () => {
    await mkdir(folder.file('check'))
    const host = "const host: import('@adobe/premierepro').premierepro"
    const shim = `declare module 'premierepro' {\n${host}\nexport = host\n}\n`
    await writeFile(folder.file('check/host.d.ts'), shim)
    const options = {
      ...{ checkJs: true, allowJs: true, noEmit: true, strict: true, skipLibCheck: true, types: [] },
      ...{ target: 'es2022', module: 'preserve', lib: ['es2022', 'dom'] },
      paths: { '@adobe/premierepro': [join(TYPES, '@adobe/premierepro/src/premierepro.d.ts')] },
    }
    const files = [path('panel.js'), 'host.d.ts', join(TYPES, '@adobe/cc-ext-uxp-types/uxp/index.d.ts')]
    await writeFile(folder.file('check/tsconfig.json'), JSON.stringify({ compilerOptions: options, files }))
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
    const check = () => execFileSync(process.execPath, [tsc, '-p', folder.file('check')], { stdio: 'pipe' })
    expect(() => check()).not.toThrow()
  })
})
