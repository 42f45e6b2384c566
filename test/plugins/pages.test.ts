import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PLUGINS = join(ROOT, 'plugins')
const folders = readdirSync(PLUGINS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

/** Plugins for programs of others. */
const OF_HOSTS = folders.filter((name) => !['hls', 'script-step', 'timelines', 'watch-folder'].includes(name))

const read = (...path: readonly string[]) => readFileSync(join(PLUGINS, ...path), 'utf8')

describe('the folder of a plugin', () => {
  it('has its row in the table of plugins', () => {
    const linked = [...read('README.md').matchAll(/^\| \[[^\]]+\]\(([\w-]+)\/README\.md\) /gm)].map(([, name]) => name)
    expect(linked.sort()).toEqual([...folders].sort())
  })

  it.each(folders)('%s has a page: install, hook, settings, a worked example, how to see that it works', (folder) => {
    const headings = [...read(folder, 'README.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    for (const wanted of [/^Install$/, /^Hook/, /^Settings$/, /example/i, /^How to see that it works$/]) {
      expect(headings).toEqual(expect.arrayContaining([expect.stringMatching(wanted)]))
    }
    // A shell's, a host's, or a program's: something to copy.
    expect(read(folder, 'README.md')).toMatch(/^\s*```\w+/m)
  })

  it.each(OF_HOSTS)('%s: installed in three lines, and the page says what its tests run', (folder) => {
    const page = read(folder, 'README.md')
    const [, install = ''] = /^## Install\n([\s\S]*?)(?=^## )/m.exec(page) ?? []
    for (const [, lines = ''] of install.matchAll(/^```sh\n([\s\S]*?)^```/gm))
      expect(lines.trim().split('\n').length).toBeLessThanOrEqual(3)
    const told = page.split('\n\n').filter((text) => /\btest(s|ed)?\b/i.test(text))
    expect(told.join(' ')).toMatch(
      /\b(the|a) real\b|\bthe types\b|\bthe official\b|\bits published\b|\bits documentation\b/,
    )
  })

  it.each(['mediamtx', 'nexrender', 'resolve', 'premiere', 'tdarr', 'unmanic'])(
    '%s: its host does not run in a test, and the page says so',
    (folder) =>
      expect(read(folder, 'README.md').replaceAll('\n', ' ')).toMatch(/(not run|could be run|not from a running)/),
  )
})

/** The table of a page's settings: the names, and the defaults of those that have one. */
function settingsOf(folder: string): Readonly<Record<string, unknown>> {
  const [, section = ''] = /^## Settings\n([\s\S]*?)(?=^## )/m.exec(read(folder, 'README.md')) ?? []
  const rows = [...section.matchAll(/^\| `([\w-]+)` \| [^|]+ \| (?:`([^`]+)`)? ?\|/gm)]
  expect(rows.length).toBeGreaterThan(0)
  return Object.fromEntries(rows.map(([, name = '', value]) => [name, value === undefined ? '' : JSON.parse(value)]))
}
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)

describe('the settings on a page are those that the script has', () => {
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
    ['premiere', 'panel.js', /field\('(preset|add-track)'\)/g],
    ['unmanic', 'plugin.py', /^ {8}"(\w+)": \{"label"/gm],
    ['blender', 'voxmux_blender.py', /^ {4}(\w+): bpy\.props\.StringProperty\((?!options)/gm],
  ])('%s', (folder, script, pattern) => {
    expect(Object.keys(settingsOf(folder)).sort()).toEqual([...namesIn(read(folder, script), pattern)].sort())
  })

  it('n8n: the fields of the credential and of the node', () => {
    const text = read('n8n', 'credentials/VoxmuxApi.credentials.ts') + read('n8n', 'nodes/Voxmux/Voxmux.node.ts')
    const fields = namesIn(text, /^ +(?:\{ displayName: '[^']+', )?name: '(\w+)',/gm)
    const others = ['voxmux', 'operation', 'options']
    expect(Object.keys(settingsOf('n8n')).sort()).toEqual(fields.filter((name) => !others.includes(name ?? '')).sort())
  })

  it('node-red: the fields of both nodes, and their defaults', () => {
    const page = read('node-red', 'voxmux.html')
    const fields = namesIn(page, /^ {2}<div class="form-row"><label for="node-(?:config-)?input-(\w+)">/gm)
    const settings = settingsOf('node-red')
    const others = ['name', 'service']
    expect(Object.keys(settings).sort()).toEqual(fields.filter((name) => !others.includes(name ?? '')).sort())
    const defaults = [...page.matchAll(/^ {6}(\w+): \{ value: ([^,}]+?)[, ]/gm)].filter(
      ([, name = '']) => name in settings,
    )
    for (const [, name = '', value = ''] of defaults)
      expect(settings[name]).toBe(JSON.parse(value.replaceAll("'", '"')))
    expect(defaults.length).toBeGreaterThan(5)
  })

  it.each([
    ['nginx-rtmp', join(ROOT, 'shell/spool-job.sh')],
    ['mediamtx', join(PLUGINS, 'mediamtx/segment-complete.sh')],
  ])('%s: the arguments, in their order', (folder, script) => {
    const [, usage = ''] = /^# [\w-]+\.sh ([A-Z[\] ]+)/m.exec(readFileSync(script, 'utf8')) ?? []
    expect(Object.keys(settingsOf(folder))).toEqual(namesIn(usage.toLowerCase(), /(\w+)/g))
  })

  it('timelines: flags of the command', () => {
    const page = readFileSync(join(ROOT, 'docs/timelines.md'), 'utf8')
    const flags = Object.keys(settingsOf('timelines'))
    expect(flags).not.toEqual([])
    for (const flag of flags) {
      expect(page).toMatch(flag === 'output' ? /`-o FOLDER`/ : new RegExp(`\`--${flag}\\b`))
    }
  })
})
