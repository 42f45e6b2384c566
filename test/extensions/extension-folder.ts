import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Config, resolveConfig } from '../../src/config/index.js'

/** A stranger's folder with files in it, gone after the test. @returns its path */
export function strangersFolder(files: Readonly<Record<string, string | object>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-extensions-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

/** The configuration of `<folder>/config.json`, named from somewhere else, as a person names it. */
export function configOf(folder: string): Promise<Config> {
  const nobody = { config: null, data: null }
  return resolveConfig({ cwd: tmpdir(), env: {}, configPath: join(folder, 'config.json'), folders: nobody })
}

/** A module of an extension: the manifest's fields as JavaScript. */
export function manifest(fields: Readonly<Record<string, string>> = {}): string {
  const all = { contract: '1', name: "'p'", description: "'an extension'", start: '() => ({})', ...fields }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `export default { ${lines.join(', ')} }`
}
