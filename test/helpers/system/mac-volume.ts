import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../until.js'

/** Debian's own, which has its packages. */
const PYTHON = '/usr/bin/python3'
const PROGRAM = fileURLToPath(new URL('./mac-volume.py', import.meta.url))

/** Why no such volume can be mounted; null if it can. */
export const NO_MAC_VOLUME =
  !existsSync('/dev/fuse') || spawnSync('fusermount', ['-V']).status !== 0
    ? 'no FUSE'
    : spawnSync(PYTHON, ['-c', 'import fusepy']).status !== 0
      ? 'no python3-fusepy'
      : null

/** `nfd` lists names decomposed, as HFS+ does. `nolink` refuses hard links, as exFAT does. */
export type MacVolumeTrait = 'nfd' | 'nolink'

/** Mounts an empty volume that treats names as macOS does. @returns removes it */
export async function mountMacVolume(at: string, ...traits: readonly MacVolumeTrait[]): Promise<() => Promise<void>> {
  const held = mkdtempSync(join(tmpdir(), 'voxmux-mac-'))
  const volume = spawn(PYTHON, [PROGRAM, held, at, ...traits], { stdio: ['ignore', 'ignore', 'inherit'] })
  const isMounted = () => readFileSync('/proc/self/mounts', 'utf8').includes(` ${at} fuse`)
  await until(() => isMounted() || volume.exitCode !== null)
  return async () => {
    execFileSync('fusermount', ['-uz', at])
    await until(() => volume.exitCode !== null)
    rmSync(held, { recursive: true, force: true })
  }
}
