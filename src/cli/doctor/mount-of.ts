import { readFile, realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/** The mount of a path. */
export interface Mount {
  readonly point: string
  /** Type in the kernel's spelling: `ext4`, `cifs`, `nfs4`. */
  readonly type: string
}

const NETWORK_TYPES: ReadonlySet<string> = new Set([
  ...['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'afs', 'ceph', 'glusterfs', 'lustre', 'gpfs', '9p', 'virtiofs', 'vboxsf'],
  ...['davfs', 'fuse.sshfs', 'fuse.glusterfs', 'fuse.rclone', 'fuse.s3fs', 'fuse.davfs2', 'fuse.vmhgfs-fuse', 'drvfs'],
])

/** True for a file system that other machines write to. Their changes cause no events on this one. */
export function isNetworkType(type: string): boolean {
  return NETWORK_TYPES.has(type)
}

/** Finds the mount of a path. Null if the system does not report mounts (anything but Linux). */
export async function mountOf(path: string): Promise<Mount | null> {
  const table = await readFile('/proc/self/mounts', 'utf8').catch(() => null)
  return table === null ? null : findMount(await realpath(path).catch(() => path), table)
}

/** Finds the longest mount point above a path in the kernel's table. The last of equals wins. */
export function findMount(path: string, table: string): Mount | null {
  const mounts = table.split('\n').flatMap((line) => {
    const [, point, type] = line.split(' ')
    return point !== undefined && type !== undefined ? [{ point: unescaped(point), type }] : []
  })
  const above = mounts.filter(({ point }) => path === point || path.startsWith(point === sep ? sep : point + sep))
  return above.reduce<Mount | null>((best, one) => (one.point.length >= (best?.point.length ?? 0) ? one : best), null)
}

/** Decodes spaces, tabs, line ends and backslashes, which the kernel writes as `\040`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
