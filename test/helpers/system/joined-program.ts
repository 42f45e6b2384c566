import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'

/** Below `node_modules`, so that packages are found from there. */
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/voxmux-programs/', import.meta.url))

const known = new Map<string, string>()

/**
 * Joins a TypeScript module and all of ours that it imports into one file for a plain `node`. A process that compiles
 * the modules by itself spends two seconds of processor time on it, and some tests start a dozen.
 *
 * @param path of the module. Every `import.meta.url` is that of this module.
 * @returns path of the file
 */
export function joinedProgram(path: string): string {
  const program = known.get(path) ?? writtenProgram(path)
  known.set(path, program)
  return program
}

/** Named for its content, so that all who write it write the same. */
function writtenProgram(path: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [path],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(path).href) },
    write: false,
  })
  const bytes = outputFiles[0]?.contents ?? new Uint8Array()
  const program = join(FOLDER, `${createHash('sha256').update(bytes).digest('hex')}.mjs`)
  if (existsSync(program)) return program
  mkdirSync(FOLDER, { recursive: true })
  const part = `${program}.${randomUUID()}`
  writeFileSync(part, bytes)
  renameSync(part, program)
  return program
}
