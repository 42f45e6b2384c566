import { readFileSync } from 'node:fs'
import { z } from 'zod'

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      peer: z.boolean().optional(),
    }),
  ),
})

/** Packages whose package.json names no licence. Each has it in its own LICENSE file or README. */
const UNNAMED: Readonly<Record<string, string>> = {
  '@jitsi/rnnoise-wasm': 'Apache-2.0',
  async: 'MIT',
  'parse-cache-control': 'BSD-3-Clause',
}

const LINE_LENGTH = 80

/** A package that an installation of voxmux can have beside it. */
export interface InstalledPackage {
  readonly name: string
  readonly version: string
  /** SPDX expression. */
  readonly licence: string
}

/** Every package that `npm install voxmux` can install, by licence. */
export function licenceList(): string {
  const byLicence = new Map<string, Set<string>>()
  for (const { name, version, licence } of installedPackages())
    byLicence.set(licence, (byLicence.get(licence) ?? new Set()).add(`${name} ${version}`))
  return [...byLicence]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([licence, packages]) => `${licence}\n${wrapped([...packages].sort().join(', '), /(?<=,) /)}`)
    .join('\n\n')
}

/**
 * Every package that `npm install voxmux` can install, on any system, from the lock file.
 *
 * @throws {Error} for a package whose licence is unknown
 */
export function installedPackages(): readonly InstalledPackage[] {
  const lock = lockSchema.parse(JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')))
  return Object.entries(lock.packages).flatMap(([path, { version = '', license, dev, peer }]) => {
    if (path === '' || dev || peer) return []
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const licence = license ?? UNNAMED[name]
    if (licence === undefined)
      throw new Error(`The licence of ${name} is unknown: name it in docs/sections/licences.ts.`)
    return { name, version, licence }
  })
}

/** The text in lines with an indent of two, broken where `gap` matches. */
export function wrapped(text: string, gap: RegExp): string {
  const lines: string[] = []
  let line = ' '
  for (const entry of text.split(gap)) {
    if (line.length + entry.length + 1 > LINE_LENGTH) {
      lines.push(line)
      line = ' '
    }
    line += ` ${entry}`
  }
  return [...lines, line].join('\n')
}
