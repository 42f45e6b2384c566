import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.js'

const OWN_MOUNTS = ['--user', '--map-root-user', '--mount'] as const

/** Why there can be no mounts of a test's own; null where there can. */
export const NO_MOUNTS =
  spawnSync('unshare', [...OWN_MOUNTS, 'mount', '-t', 'tmpfs', 'test', '/tmp']).status === 0
    ? null
    : 'no mounts in a user namespace'

/** A share that is mounted for some processes alone, and can be taken from them: it needs no root, and leaves nothing. */
export interface MountSpace {
  /** Program and arguments that run a command among these mounts. */
  readonly through: readonly string[]
  /** The path as the processes of the space see it; to be read and written while the space is open. */
  inside(path: string): string
  /** Mounts a folder of the share there; it keeps what it holds while it is not mounted. */
  mount(at: string): void
  /** Takes it away under the hands of who uses it (`umount -l`). The folder that it was mounted on stays, empty. */
  unmount(at: string): void
  close(): void
}

/** Opens one whose share lies in a folder that is there. @param cwd where its commands run */
export async function openMountSpace(share: string, cwd: string): Promise<MountSpace> {
  const command = `mount -t tmpfs share "$0" && touch "$0/.ready" && exec sleep infinity`
  const holder = spawn('unshare', [...OWN_MOUNTS, 'sh', '-c', command, share], { stdio: 'ignore' })
  const target = ['-t', String(holder.pid), '--user', '--mount', '--preserve-credentials']
  const run = (...words: readonly string[]) => execFileSync('nsenter', [...target, ...words])
  const inside = (path: string) => `/proc/${holder.pid}/root${path}`
  await until(() => existsSync(inside(join(share, '.ready'))))
  return {
    through: ['nsenter', ...target, `--wd=${cwd}`],
    inside,
    mount(at) {
      const kept = join(share, encodeURIComponent(at))
      mkdirSync(inside(kept), { recursive: true })
      run('mount', '--bind', kept, at)
    },
    unmount: (at) => void run('umount', '-l', at),
    close: () => void holder.kill('SIGKILL'),
  }
}
