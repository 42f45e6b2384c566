import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as voxmux from 'voxmux'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

/** Every name that src/index.ts exports, types too; a star would hide what comes. */
function exportedNames(): readonly string[] {
  const source = ts.createSourceFile('index.ts', read('src/index.ts'), ts.ScriptTarget.Latest)
  return source.statements.flatMap((statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined
    if (!clause || !ts.isNamedExports(clause)) throw new Error(`src/index.ts: ${statement.getText(source)}`)
    return clause.elements.map(({ name }) => name.text)
  })
}

/** The table of the page: whom a group is for, why, and its names. */
function documentedGroups(): readonly { readonly reason: string; readonly names: readonly string[] }[] {
  const [, section = ''] = read('docs/plugins.md').split('## What voxmux exports')
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  return rows.slice(2).map((row) => {
    const [, whom = '', why = '', names = ''] = row.split('|').map((cell) => cell.trim())
    return { reason: `${whom}: ${why}`, names: [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name as string) }
  })
}

// A name that goes, or comes, is a decision: it belongs to a group that says whom it is for and why.
describe('the public surface of voxmux', () => {
  it('is what docs/plugins.md lists, each name once, and nothing else', () => {
    const documented = documentedGroups().flatMap(({ names }) => names)
    expect(documented.length).toBeGreaterThan(50)
    expect([...documented].sort()).toEqual([...exportedNames()].sort())
  })

  it('has a reason for each group', () => {
    for (const { reason, names } of documentedGroups()) {
      expect(reason).toMatch(/^\S.*: \S.*/)
      expect(names.length).toBeGreaterThan(0)
    }
  })

  it('is at run time what it is in types', () => {
    const names = new Set(exportedNames())
    for (const name of Object.keys(voxmux)) expect(names.has(name)).toBe(true)
  })
})
