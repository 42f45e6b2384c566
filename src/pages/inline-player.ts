import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from '../core/package-folder.js'

/** The modules of the player, each after those that it imports. */
const MODULES = ['visible-text.js', 'elements.js', 'format.js', 'player.js'] as const

const read = (name: string) => readFileSync(new URL(`src/pages/browser/${name}`, PACKAGE_FOLDER), 'utf8')

/** The styles of the player, for a standalone page that has the variables of the other pages. */
export function playerStyle(): string {
  return read('player.css')
}

/** The player as one script without imports, for a standalone page. It defines `player` in the scope that it stands in. */
export function playerScript(): string {
  return MODULES.map((name) =>
    read(name)
      .replace(/^import .*\n/gm, '')
      .replace(/^export /gm, ''),
  ).join('\n')
}
