import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface SizedPackage {
  readonly name: string
  /** Of its files and folders, without the packages inside it. */
  readonly bytes: number
}

/** Most file systems give a file whole blocks. */
const BLOCK_BYTES = 4096

/**
 * The packages of a `node_modules` folder at every depth, the largest first, and the space that they take on disk.
 *
 * @param without names that are not counted
 */
export function installedSize(folder: string, without: readonly string[]): { packages: SizedPackage[]; bytes: number } {
  const packages = packagesIn(folder)
    .filter(({ name }) => !without.includes(name))
    .sort((a, b) => b.bytes - a.bytes)
  return { packages, bytes: packages.reduce((sum, { bytes }) => sum + bytes, 0) }
}

function packagesIn(folder: string, scope = ''): SizedPackage[] {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  return names.flatMap((name) => {
    const path = join(folder, name)
    if (name.startsWith('@')) return packagesIn(path, `${name}/`)
    const { bytes, inside } = weigh(path)
    return [{ name: `${scope}${name}`, bytes }, ...inside]
  })
}

function weigh(path: string): { bytes: number; inside: SizedPackage[] } {
  const stats = statSync(path)
  const own = Math.ceil(stats.size / BLOCK_BYTES) * BLOCK_BYTES
  if (!stats.isDirectory()) return { bytes: own, inside: [] }
  const parts = readdirSync(path).map((name) =>
    name === 'node_modules' ? { bytes: 0, inside: packagesIn(join(path, name)) } : weigh(join(path, name)),
  )
  const bytes = parts.reduce((sum, part) => sum + part.bytes, own)
  return { bytes, inside: parts.flatMap((part) => part.inside) }
}
