import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** What a run of the tests may hold at once, with room to spare. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3

/**
 * Makes the temporary folder of a run in memory on Linux if there is room. On a disk, the tests would wait for it to confirm
 * thousands of small writes. Does nothing if `TMPDIR` names a folder.
 *
 * @returns what removes the folder
 */
export default function makeMemoryFolder(): (() => void) | undefined {
  if (process.platform !== 'linux' || process.env.TMPDIR || freeBytes('/dev/shm') < LEAST_FREE_BYTES) return undefined
  const folder = mkdtempSync(join('/dev/shm', 'voxmux-'))
  // Some tests run programs as another user.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Free bytes for anyone; 0 if there is no such folder. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}
