import { cpSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import ts from 'typescript'

const ATTRIBUTES = "with { 'resolution-mode': 'import' }"

/**
 * Copies the declarations that the entries reach, and writes `index.cjs` and `index.d.cts` beside each entry. Node lets
 * CommonJS load the ES module, but TypeScript with `module: node16` only takes declarations of CommonJS. These repeat
 * each name and point to the same types.
 *
 * @param entries the `index.ts` of each export, from the root of the repository
 * @param from the folder of all declarations
 */
export function writeDeclarations(entries: readonly string[], from: string, to: string): void {
  const paths = entries.map((entry) => join(from, entry.replace(/\.ts$/, '.d.ts')))
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, noLib: true }
  const program = ts.createProgram(paths, { ...options, types: [], skipLibCheck: true })
  for (const { fileName } of program.getSourceFiles()) {
    const path = relative(from, fileName)
    if (!path.startsWith('..')) cpSync(fileName, join(to, path))
  }
  const checker = program.getTypeChecker()
  for (const path of paths) {
    const file = program.getSourceFile(path)
    const module = file && checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`${path} exports nothing.`)
    const name = basename(path, '.d.ts')
    const beside = join(to, relative(from, dirname(path)), name)
    writeFileSync(`${beside}.cjs`, `module.exports = require('./${name}.js')\n`)
    writeFileSync(`${beside}.d.cts`, declarations(checker.getExportsOfModule(module), checker, name))
  }
}

function declarations(symbols: readonly ts.Symbol[], checker: ts.TypeChecker, name: string): string {
  const from = `'./${name}.js' ${ATTRIBUTES}`
  const lines = symbols.map((symbol) => {
    const { flags } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const [isValue, isType] = [flags & ts.SymbolFlags.Value, flags & ts.SymbolFlags.Type]
    const exported = symbol.name
    if (!isValue) return `export type { ${exported} } from ${from}`
    const value = `export declare const ${exported}: typeof all.${exported}`
    return isType ? `${value}\nexport type ${exported} = all.${exported}` : value
  })
  return [`import type * as all from ${from}`, ...lines, ''].join('\n')
}
