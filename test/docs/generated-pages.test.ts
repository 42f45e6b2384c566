import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { GENERATED_FILES, GENERATED_PAGES, renderPage } from '../../docs/pages.js'
import { COMMANDS } from '../../src/cli/command-table.js'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

describe('what the documentation says of the code', () => {
  it.each(GENERATED_PAGES.map((page) => [page.path, page] as const))(
    '%s is up to date (npm run docs)',
    (path, page) => {
      const text = read(path)
      expect(renderPage(page, text)).toBe(text)
    },
  )

  it.each(GENERATED_FILES.map((file) => [file.path, file] as const))(
    '%s is up to date (npm run docs)',
    async (path, file) => {
      expect(await file.write()).toBe(read(path))
    },
  )

  it('the manual page is roff without a warning, and has every command', () => {
    const options = ['-man', '-ww', '-Tutf8', '-P-cbou', fileURLToPath(new URL('../../docs/voxmux.1', import.meta.url))]
    const { stdout, stderr } = spawnSync('groff', options, { encoding: 'utf8' })
    expect(stderr).toBe('')
    for (const { name } of COMMANDS) expect(stdout).toContain(`voxmux ${name}`)
    expect(stdout).toMatch(/-o, --output VALUE\n/)
  })

  it('is refused where a page has lost its marks', () => {
    const page = { path: 'x.md', sections: { table: () => '| a |' } }
    expect(() => renderPage(page, '# x')).toThrow(/begin table/)
  })
})
