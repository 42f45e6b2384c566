import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { PLUGIN_MANIFESTS } from '../../docs/sections/plugin-manifests.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PLUGINS = join(ROOT, 'plugins')
const folders = readdirSync(PLUGINS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const read = (...path: readonly string[]) => readFileSync(join(PLUGINS, ...path), 'utf8')

/** The shape of a `plugin.json`, as docs/plugins.md describes it. */
const manifestSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string().regex(/^[A-Z].+\.$/),
  starts: z
    .array(
      z.strictObject({
        kind: z.enum(['command', 'function', 'hook', 'script']),
        what: z.string().min(1),
        by: z.string().min(1),
      }),
    )
    .min(1),
  options: z.looseObject({ type: z.literal('object'), properties: z.record(z.string(), z.unknown()) }).optional(),
  optionsIn: z.string().min(1).optional(),
})
const manifestOf = (folder: string) => manifestSchema.parse(JSON.parse(read(folder, 'plugin.json')))

describe('the folder of a plugin', () => {
  it('is known to the documentation, whichever it is', () => {
    expect(PLUGIN_MANIFESTS.map(({ name }) => name).sort()).toEqual([...folders].sort())
    const page = read('README.md')
    for (const folder of folders) expect(page).toContain(`(${folder}/README.md)`)
  })

  it.each(folders)('%s has a manifest that says what its host starts, and that is there', (folder) => {
    const { name, starts, options, optionsIn } = manifestOf(folder)
    expect(name).toBe(folder)
    expect(options === undefined).toBe(optionsIn === undefined)
    for (const { kind, what } of starts) {
      const [first = ''] = what.split(' ')
      if (kind === 'script' || kind === 'hook') {
        expect(existsSync(join(PLUGINS, folder, first)) || existsSync(join(ROOT, first))).toBe(true)
      } else if (kind === 'command') {
        expect(existsSync(join(ROOT, 'src/cli/commands', `${what.split(' ')[1]}.ts`))).toBe(true)
      } else {
        const [, module = ''] = /\((voxmux\/[\w/-]+)\)$/.exec(what) ?? []
        const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }
        const names = Object.keys(exports)
        expect(names.includes(`./${module.slice(7)}`) || /^voxmux\/plugins\//.test(module)).toBe(true)
      }
    }
  })

  it.each(folders)('%s has a page: install, hook, settings, a worked example, how to see that it works', (folder) => {
    const headings = [...read(folder, 'README.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    for (const wanted of [/^Install$/, /^Hook/, /^Settings$/, /example/i, /^How to see that it works$/]) {
      expect(headings).toEqual(expect.arrayContaining([expect.stringMatching(wanted)]))
    }
    // A shell's, a host's, or a program's: something to copy.
    expect(read(folder, 'README.md')).toMatch(/^\s*```\w+/m)
  })
})

describe('a manifest', () => {
  it('looks as docs/plugins.md shows it to a stranger', () => {
    const page = readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8')
    const [, example = ''] = /```json\n(\{\s+"name"[\s\S]*?)```/.exec(page) ?? []
    expect(manifestSchema.parse(JSON.parse(example)).name).toBe('my-encoder')
  })

  it.each(['mediamtx', 'nexrender', 'resolve', 'tdarr'])(
    '%s: its host does not run in a test, and the page says so',
    (folder) =>
      expect(read(folder, 'README.md').replaceAll('\n', ' ')).toMatch(/(not run|could be run|not from a running)/),
  )
})

/** Settings of a manifest: the names, and the defaults of those that have one. */
function settingsOf(folder: string): Readonly<Record<string, unknown>> {
  const { properties = {} } = manifestOf(folder).options ?? {}
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, (property as { default?: unknown }).default]),
  )
}
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)

describe('the settings of a manifest are those that the script has', () => {
  it('tdarr', () => {
    const { details } = createRequire(import.meta.url)(join(PLUGINS, 'tdarr/flow-plugin.cjs'))
    const inputs = details().inputs as readonly { name: string; defaultValue: string }[]
    expect(settingsOf('tdarr')).toEqual(
      Object.fromEntries(inputs.map(({ name, defaultValue }) => [name, defaultValue])),
    )
  })

  it.each([
    ['obs', 'voxmux_obs.py', /obs_properties_add_\w+\(properties, "(\w+)"/g],
    ['resolve', 'voxmux_resolve.py', /os\.environ\.get\("(VOXMUX_\w+)"/g],
    ['blender', 'voxmux_blender.py', /^ {4}(\w+): bpy\.props\.StringProperty\((?!options)/gm],
  ])('%s', (folder, script, pattern) => {
    expect(Object.keys(settingsOf(folder)).sort()).toEqual([...namesIn(read(folder, script), pattern)].sort())
  })

  it.each([
    ['nginx-rtmp', join(ROOT, 'shell/spool-job.sh')],
    ['mediamtx', join(PLUGINS, 'mediamtx/segment-complete.sh')],
  ])('%s: the arguments, in their order', (folder, script) => {
    const [, usage = ''] = /^# [\w-]+\.sh ([A-Z[\] ]+)/m.exec(readFileSync(script, 'utf8')) ?? []
    expect(Object.keys(settingsOf(folder))).toEqual(namesIn(usage.toLowerCase(), /(\w+)/g))
  })

  it('otio: flags of the command', () => {
    const page = readFileSync(join(ROOT, 'docs/timelines.md'), 'utf8')
    for (const flag of Object.keys(settingsOf('otio'))) {
      expect(page).toMatch(flag === 'output' ? /`-o FOLDER`/ : new RegExp(`\`--${flag}\\b`))
    }
  })
})
