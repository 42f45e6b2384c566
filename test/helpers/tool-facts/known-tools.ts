import { copyFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

const FILE = 'tools.json'

/** Makes a state folder that knows what the run found out about the tools, as that of an earlier command does. */
export function knowTools(stateDir: string): void {
  const known = join(inject('toolFacts'), FILE)
  if (sizeOf(known) === 0) return
  mkdirSync(stateDir, { mode: 0o700 })
  copyFileSync(known, join(stateDir, FILE))
}

/** Lets the run know what commands with a state folder found out. */
export function learnTools(stateDir: string): void {
  const [learned, known] = [join(stateDir, FILE), join(inject('toolFacts'), FILE)]
  // Facts are only added. If two tests learn at once, the facts of one are found out again.
  if (sizeOf(learned) <= sizeOf(known)) return
  copyFileSync(learned, `${known}.${process.pid}`)
  renameSync(`${known}.${process.pid}`, known)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
