import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import ts from 'typescript'

/** One import (static, dynamic, type-only or re-export) as it stands in a file. */
export interface ImportLine {
  /** Path of the importing file from the root, with forward slashes: `src/media/probe/probe.ts`. */
  readonly from: string
  /** 1-based line, for messages. */
  readonly line: number
  /** What is written between the quotes. */
  readonly specifier: string
  /** Path of the imported file from the root where the specifier is relative; null for packages. */
  readonly target: string | null
}

/** A file as text, by its path from the root with forward slashes. */
export type SourceFiles = ReadonlyMap<string, string>

/** Reads every `.ts` file under the folders (those that exist). */
export function readSources(root: string, folders: readonly string[]): SourceFiles {
  const files = new Map<string, string>()
  for (const folder of folders) {
    for (const path of listFiles(join(root, folder))) {
      files.set(relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8'))
    }
  }
  return files
}

/** Every import of every file, in file order. */
export function findImports(files: SourceFiles): readonly ImportLine[] {
  return [...files].flatMap(([from, text]) =>
    ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
      from,
      line: text.slice(0, pos).split('\n').length,
      specifier: fileName,
      target: fileName.startsWith('.') ? resolveTarget(from, fileName, files) : null,
    })),
  )
}

/** Name of the package that a specifier asks for (`got`, `@jitsi/rnnoise-wasm`); null for files and `node:` modules. */
export function packageName(specifier: string): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Every shortest way in which a file reaches itself again, each as the files passed, first and last the same. */
export function findCycles(imports: readonly ImportLine[]): readonly (readonly string[])[] {
  const edges = new Map<string, string[]>()
  for (const { from, target } of imports) {
    if (target !== null) edges.set(from, [...(edges.get(from) ?? []), target])
  }
  const seen = new Set<string>()
  const cycles: string[][] = []
  for (const start of edges.keys()) {
    const way = shortestWayBack(start, edges)
    if (way === null) continue
    const key = [...new Set(way)].sort().join()
    if (!seen.has(key)) cycles.push(way)
    seen.add(key)
  }
  return cycles
}

function shortestWayBack(start: string, edges: ReadonlyMap<string, readonly string[]>): string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const next of edges.get(file) ?? []) {
      if (next === start) return trace(file, cameFrom, start)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return null
}

function trace(last: string, cameFrom: ReadonlyMap<string, string>, start: string): string[] {
  const way = [start]
  for (let file: string | undefined = last; file !== undefined && file !== start; file = cameFrom.get(file)) {
    way.unshift(file)
  }
  return [start, ...way]
}

function resolveTarget(from: string, specifier: string, files: SourceFiles): string {
  const path = join(dirname(from), specifier).split(sep).join('/')
  const candidates = [path.replace(/\.js$/, '.ts'), path, `${path}.ts`, `${path}/index.ts`]
  return candidates.find((candidate) => files.has(candidate)) ?? path
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path)
        return entry.isFile() && entry.name.endsWith('.ts') ? [path] : []
      })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
