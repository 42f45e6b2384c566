import { readFileSync } from 'node:fs'

/** voxmux's own version, as its package.json has it. */
export function voxmuxVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
