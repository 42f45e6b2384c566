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

const page = read('docs/sdk.md')

/** Names in the table of the page. */
function documentedNames(): readonly string[] {
  const [, section = ''] = page.split('## Names')
  return [...section.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)
}

// A name that goes, or comes, is a decision.
describe('the public surface of voxmux', () => {
  it('is what docs/sdk.md lists, each name once, and 60 names at most', () => {
    expect([...documentedNames()].sort()).toEqual([...exportedNames()].sort())
    expect(exportedNames().length).toBeLessThanOrEqual(60)
  })

  it('shows each value in a program of docs/sdk.md', () => {
    const imports = [...page.matchAll(/^import \{([^}]*)\} from 'voxmux'$/gm)].map(([, names]) => names ?? '')
    const shown = new Set(imports.flatMap((names) => names.match(/\w+/g) ?? []))
    expect([...shown].sort()).toEqual(Object.keys(voxmux).sort())
  })

  it('is at run time what it is in types', () => {
    const names = new Set(exportedNames())
    for (const name of Object.keys(voxmux)) expect(names.has(name)).toBe(true)
  })
})
