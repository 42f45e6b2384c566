import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import ts from 'typescript'

const ATTRIBUTES = "with { 'resolution-mode': 'import' }"

/**
 * Writes `index.cjs` and `index.d.cts` beside each entry. Node lets CommonJS load the ES module, but TypeScript with
 * `module: node16` only takes declarations of CommonJS. These repeat each name and point to the same types.
 *
 * @param paths of `index.d.ts` files
 */
export function writeCommonJsEntries(paths: readonly string[]): void {
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, noLib: true }
  const program = ts.createProgram([...paths], { ...options, types: [], skipLibCheck: true })
  const checker = program.getTypeChecker()
  for (const path of paths) {
    const file = program.getSourceFile(path)
    const module = file && checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`${path} exports nothing.`)
    writeFileSync(path.replace(/\.d\.ts$/, '.cjs'), `module.exports = require('./${basename(path, '.d.ts')}.js')\n`)
    writeFileSync(path.replace(/\.d\.ts$/, '.d.cts'), declarations(checker.getExportsOfModule(module), checker, path))
  }
}

function declarations(exported: readonly ts.Symbol[], checker: ts.TypeChecker, path: string): string {
  const from = `'./${basename(path, '.d.ts')}.js' ${ATTRIBUTES}`
  const lines = exported.map((symbol) => {
    const { flags } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const [isValue, isType] = [flags & ts.SymbolFlags.Value, flags & ts.SymbolFlags.Type]
    const { name } = symbol
    if (!isValue) return `export type { ${name} } from ${from}`
    const value = `export declare const ${name}: typeof all.${name}`
    return isType ? `${value}\nexport type ${name} = all.${name}` : value
  })
  return [`import type * as all from ${from}`, ...lines, ''].join('\n')
}
