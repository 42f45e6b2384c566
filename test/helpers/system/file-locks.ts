import { existsSync, readFileSync, statSync } from 'node:fs'

/** Whether this system lists its locks on files. */
export const LISTS_LOCKS = existsSync('/proc/locks')

/** Locks that the processes of this machine hold on a file, a line each, without the number of the kernel's list. */
export function locksOn(file: string): readonly string[] {
  const inode = `:${statSync(file).ino}`
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.split(/\s+/).some((word) => word.endsWith(inode)))
    .map((line) => line.replace(/^\d+: */, ''))
}
