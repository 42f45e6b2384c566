import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from '../core/package-folder.js'

/** The modules of the player, each after those that it imports. */
const MODULES = ['visible-text.js', 'elements.js', 'format.js', 'player.js'] as const

const read = (name: string) => readFileSync(new URL(`src/pages/browser/${name}`, PACKAGE_FOLDER), 'utf8')

/** Returns the styles of the player. A standalone page with the variables of the other pages can embed them. */
export function playerStyle(): string {
  return read('player.css')
}

/** Returns the player as one script without imports, which a standalone page can embed. It defines `player`. */
export function playerScript(): string {
  return MODULES.map((name) =>
    read(name)
      .replace(/^import .*\n/gm, '')
      .replace(/^export /gm, ''),
  ).join('\n')
}
