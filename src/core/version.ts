import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from './package-folder.js'

/** The version of voxmux in its package.json. */
export function voxmuxVersion(): string {
  const text = readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
