import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Folder of voxmux's package.json: two levels above a folder of `src/`, three above one of `dist/src/`. */
export const PACKAGE_FOLDER: URL = ['../../', '../../../']
  .map((above) => new URL(above, import.meta.url))
  .find((folder) => existsSync(new URL('package.json', folder))) as URL

/** Path of a page of the documentation on this computer, such as `configuration.md`. A message can send a reader there. */
export function docsPage(name: string): string {
  return fileURLToPath(new URL(`docs/${name}`, PACKAGE_FOLDER))
}

/** The version of voxmux in its package.json. */
export function voxmuxVersion(): string {
  const text = readFileSync(new URL('package.json', PACKAGE_FOLDER), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
