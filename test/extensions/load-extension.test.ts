import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadExtension } from '../../src/extensions/load-extension.js'
import { configOf, manifest, strangersFolder } from './extension-folder.js'

/** Loads the only extension of a folder's configuration. */
async function load(files: Readonly<Record<string, string | object>>) {
  const { extensions } = await configOf(strangersFolder(files))
  const [only] = extensions
  if (!only || extensions.length > 1) throw new Error('not one extension')
  return loadExtension(only)
}

const named = (module: string, options?: object) => ({ extensions: [options ? [module, options] : module] })

describe('an extension is found', () => {
  it.each<[string, string, Record<string, string | object>]>([
    ['as a module beside the configuration', './p.mjs', { 'p.mjs': manifest() }],
    ['as a folder', './p', { 'p/index.mjs': manifest() }],
    ['as a folder with a package.json', './p', { 'p/package.json': { main: 'lib/a.mjs' }, 'p/lib/a.mjs': manifest() }],
    [
      'as a package of ES modules only',
      'voxmux-extension-x',
      {
        'node_modules/voxmux-extension-x/package.json': { type: 'module', exports: { import: './x.js' } },
        'node_modules/voxmux-extension-x/x.js': manifest(),
      },
    ],
    [
      'as a package with a scope and a path in it',
      '@me/plugins/quiet',
      {
        'node_modules/@me/plugins/package.json': { exports: { './quiet': { default: './q.mjs' } } },
        'node_modules/@me/plugins/q.mjs': manifest(),
      },
    ],
    ['as CommonJS', './p.cjs', { 'p.cjs': manifest().replace('export default', 'module.exports =') }],
    [
      'as what a compiler makes of an ES module',
      './p.cjs',
      { 'p.cjs': `exports.__esModule = true\n${manifest().replace('export default', 'exports.default =')}` },
    ],
  ])('%s', async (_how, module, files) => {
    const loaded = await load({ 'config.json': named(module), ...files })
    expect(loaded.extension).toMatchObject({ name: 'p', description: 'an extension' })
    expect(loaded.options).toEqual({})
  })
})

describe('an extension that cannot be had is said to be so', () => {
  it.each<[string, string, Record<string, string>, string, RegExp]>([
    [
      'nowhere',
      'voxmux-extension-none',
      {},
      'ERR_EXTENSION_MISSING',
      /extension voxmux-extension-none does not exist\. .*config\.json lists it/,
    ],
    ['no file', './none.mjs', {}, 'ERR_EXTENSION_MISSING', /none\.mjs/],
    ['broken', './p.mjs', { 'p.mjs': 'export default {' }, 'ERR_EXTENSION_LOAD', /cannot be loaded/],
    ['throwing', './p.mjs', { 'p.mjs': "throw new Error('no licence')" }, 'ERR_EXTENSION_LOAD', /no licence/],
    ['empty', './p.mjs', { 'p.mjs': '' }, 'ERR_EXTENSION_MANIFEST', /is not a voxmux extension/],
    ['nameless', './p.mjs', { 'p.mjs': manifest({ name: 'undefined' }) }, 'ERR_EXTENSION_MANIFEST', /"name"/],
    [
      'lifeless',
      './p.mjs',
      { 'p.mjs': manifest({ start: '7' }) },
      'ERR_EXTENSION_MANIFEST',
      /"start": must be a function/,
    ],
    ['of tomorrow', './p.mjs', { 'p.mjs': manifest({ contract: '2' }) }, 'ERR_EXTENSION_CONTRACT', /version 2/],
    [
      'with a schema that is none',
      './p.mjs',
      { 'p.mjs': manifest({ options: "{ type: 'objekt' }" }) },
      'ERR_EXTENSION_MANIFEST',
      /Unsupported type/,
    ],
  ])('%s', async (_what, module, files, code, message) => {
    await expect(load({ 'config.json': named(module), ...files })).rejects.toMatchObject({
      code,
      exitCode: 2,
      message: expect.stringMatching(message),
    })
  })

  it('with the command that installs it', async () => {
    const error = await load({ 'config.json': named('voxmux-extension-none') }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      remedies: [expect.stringMatching(/npm install --prefix \S+ voxmux-extension-none$/)],
    })
  })
})

describe('the options of an extension', () => {
  const schema = `{ type: 'object', additionalProperties: false, required: ['url'], properties: {
    url: { type: 'string', description: 'Where to tell.' }, tries: { type: 'integer', minimum: 1, default: 3 } } }`
  const withJsonSchema = { 'p.mjs': manifest({ options: schema }) }

  it('are checked by JSON Schema, which needs no package, and completed by its defaults', async () => {
    const { options } = await load({ 'config.json': named('./p.mjs', { url: 'https://a' }), ...withJsonSchema })
    expect(options).toEqual({ url: 'https://a', tries: 3 })
  })

  it.each([
    [{ url: 'https://a', tris: 2 }, /unknown key "tris" \(did you mean "tries"\?\)/],
    [{}, /"url" is missing/],
    [{ url: 'https://a', tries: 0 }, /"tries" must be at least 1/],
  ])('%j are refused with what is wrong, in which file, and what there is', async (options, message) => {
    const error = await load({ 'config.json': named('./p.mjs', options), ...withJsonSchema }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'ERR_EXTENSION_OPTIONS', message: expect.stringMatching(message) })
    expect(error).toMatchObject({
      message: expect.stringMatching(/extension "p" in .*config\.json/),
      remedies: ['Its options are url (string): Where to tell; tries (whole number from 1).'],
    })
  })

  it('are checked by zod, as by any Standard Schema', async () => {
    const zod = pathToFileURL(join(import.meta.dirname, '../../node_modules/zod/index.js')).href
    const files = {
      'p.mjs': `import { z } from '${zod}'\n${manifest({ options: 'z.strictObject({ at: z.int().default(7) })' })}`,
    }
    expect((await load({ 'config.json': named('./p.mjs'), ...files })).options).toEqual({ at: 7 })
    await expect(load({ 'config.json': named('./p.mjs', { at: 'x' }), ...files })).rejects.toMatchObject({
      code: 'ERR_EXTENSION_OPTIONS',
      message: expect.stringContaining('at: '),
    })
  })

  it('are refused where the extension takes none', async () => {
    await expect(load({ 'config.json': named('./p.mjs', { a: 1 }), 'p.mjs': manifest() })).rejects.toMatchObject({
      code: 'ERR_EXTENSION_OPTIONS',
      remedies: ['It has no options: write only its name.'],
    })
  })
})

describe('the configuration of extensions', () => {
  it('says what an entry must look like', async () => {
    const folder = strangersFolder({ 'config.json': { extensions: [['./p.mjs', 'loud']] } })
    await expect(configOf(folder)).rejects.toMatchObject({
      message: expect.stringContaining('must be a package name, a path'),
    })
  })
})
