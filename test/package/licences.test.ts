import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { brokenLinks, checkContents } from './tarball-contents.js'

interface Manifest {
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Licences that ask no more than that their text stays with the code, as npm leaves it. */
const PERMISSIVE = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Apache-2.0'])

/** NOTICE gives every package its paragraph, which begins with the name. */
const explains = (notice: string, name: string) =>
  notice.split('\n').some((line) => /^\S+/.exec(line)?.[0].replace(',', '') === name)
const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const manifest = (name: string) => JSON.parse(readFileSync(path(name), 'utf8')) as Manifest

describe('licences', () => {
  it('are permissive, or NOTICE says what they are', () => {
    const { dependencies, optionalDependencies } = manifest('package.json')
    const names = [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})]
    const notice = readFileSync(path('NOTICE'), 'utf8')
    const unexplained = names
      .filter((name) => existsSync(path(`node_modules/${name}/package.json`)))
      .map((name) => ({ name, license: manifest(`node_modules/${name}/package.json`).license ?? 'none' }))
      .filter(({ name, license }) => !PERMISSIVE.has(license) && !explains(notice, name))
    expect(unexplained).toEqual([])
  })

  it('of the code in dist are permissive', () => {
    const [, bundled = ''] = readFileSync(path('NOTICE'), 'utf8').split('<!-- begin bundled licences')
    const licences = [...bundled.matchAll(/^\S+ \d[\w.-]*, (.+)$/gm)].map(([, licence = '']) => licence)
    expect(licences.length).toBeGreaterThan(50)
    expect(licences.filter((licence) => !PERMISSIVE.has(licence))).toEqual([])
  })
})

describe('the contents of the tarball', () => {
  const good = [
    ...['docs/one-file.md', 'docs/voxmux.1'],
    ...['package.json', 'README.md', 'LICENSE', 'NOTICE', 'CHANGELOG.md', 'presets/transparent.json'],
    ...[
      'dist/src/index.js',
      'dist/src/index.d.ts',
      'dist/src/service/index.js',
      'dist/src/service/index.d.ts',
      'dist/src/cli/main.js',
    ],
    ...['plugins/watch-folder/dashboard/page/index.html', 'shell/spool-job.sh'],
    ...['src/ui/page/index.html', 'src/cli/portal-page/page/index.html'],
    ...['plugins/mediamtx/segment-complete.sh', 'plugins/premiere/panel.js', 'plugins/unmanic/info.json'],
    'plugins/blender/voxmux_blender.py',
    ...['plugins/tdarr/flow-plugin.cjs', 'plugins/obs/voxmux_obs.py', 'plugins/mcp/SKILL.md'],
    ...['plugins/watch-folder/deploy/voxmux-watch.service', 'plugins/watch-folder/deploy/Dockerfile'],
    ...['dist/plugins/script-step/index.js', 'plugins/script-step/examples/Makefile'],
  ]

  it('are what voxmux needs', () => {
    expect(checkContents(good)).toEqual([])
  })

  it('are refused with a test in them, or without the licence', () => {
    const bad = good.map((name) => (name === 'LICENSE' ? 'test/a.test.js' : name))
    expect(checkContents(bad)).toEqual(['nothing matches ^LICENSE$', 'test/a.test.js should not be packed'])
  })

  it('are refused if a page links to something that is not packed', () => {
    const page = `# What \`it\` does
      [one](docs/one-file.md#some-parts) [all](plugins/tdarr) [web](https://example.com#a) [here](#what-it-does)
      [gone](docs/gone.md#part) [no part](docs/one-file.md#no-part)`
    const pages: Readonly<Record<string, string>> = { 'README.md': page, 'docs/one-file.md': '## Some parts' }
    expect(brokenLinks(good, (path) => pages[path] ?? '')).toEqual([
      'README.md links to docs/gone.md, which is not packed',
      'README.md links to docs/one-file.md#no-part, which is no heading',
    ])
  })
})
