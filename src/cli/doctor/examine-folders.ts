import { constants } from 'node:fs'
import { access, link, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Config } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { nearestExisting, reasonAgainstFolder } from '../../core/make-folder.js'
import { probePath } from '../../pipeline/output/writable-folder.js'
import { type Finding, fault, finding, fine, remark } from './finding.js'

const NETWORK_TYPES: ReadonlySet<string> = new Set([
  ...['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'afs', 'ceph', 'glusterfs', 'lustre', 'gpfs', '9p', 'virtiofs', 'vboxsf'],
  ...['davfs', 'fuse.sshfs', 'fuse.glusterfs', 'fuse.rclone', 'fuse.s3fs', 'fuse.davfs2', 'fuse.vmhgfs-fuse', 'drvfs'],
])

type WatchedFolder = NonNullable<Config['watch']['folders']>[number]

/** The count of watched subfolders stops here: no system allows that many watches by default. */
const MOST_FOLDERS = 1_000_000

/** Checks the configured folders for `voxmux watch`. Empty if none is configured. */
export async function examineFolders({ watch }: Config): Promise<readonly Finding[]> {
  const folders = watch.folders ?? []
  const found = await Promise.all(folders.map((folder) => examineFolder(folder, watch.poll ?? false)))
  return [...found.flat(), ...(await examineWatches(folders, watch.poll ?? false))]
}

async function examineFolder(folder: WatchedFolder, isPolledByDefault: boolean): Promise<readonly Finding[]> {
  const { path, out = join(path, 'out'), failed = join(path, 'failed'), done = join(path, 'done') } = folder
  const watched = await finding('watch folder', async () => {
    await requireReadable(path)
    return path
  })
  if (watched.status !== 'ok') return [watched]
  const isPolled = folder.poll ?? isPolledByDefault
  return [
    watched,
    ...(await examineMount(path, isPolled)),
    await examineOutput('output', out),
    await examineOutput('reports', failed),
    ...(folder.source === 'move' ? [await examineMove(path, done)] : []),
  ]
}

async function requireReadable(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return access(path, constants.R_OK | constants.X_OK)
  throw new UsageError('ERR_WATCH_FOLDER_MISSING', `The folder ${path} ${found ? 'is a file' : 'does not exist'}.`, {
    input: path,
    remedies: ['Create the folder or mount the share. `voxmux watch` waits for it and forgets nothing.'],
  })
}

async function examineMount(path: string, isPolled: boolean): Promise<readonly Finding[]> {
  const mount = await mountOf(path)
  if (mount === null || !isNetworkType(mount.type)) return []
  const detail = `${path} is on a network share (${mount.type} at ${mount.point})`
  if (isPolled) return [fine('share', `${detail}, and is scanned`)]
  return [
    remark('share', `${detail}: files from other computers cause no events here`, [
      'Use --poll, or "poll": true for the folder in the configuration. Otherwise only the slower scans find the files.',
    ]),
  ]
}

async function examineOutput(check: string, folder: string): Promise<Finding> {
  try {
    const way = await tryPublishing(folder)
    if (way === 'link') return fine(check, folder)
    return remark(check, `${folder} does not support hard links: files are renamed into place instead`)
  } catch (thrown) {
    return fault(check, thrown)
  }
}

/** Sources are only renamed. A daemon should not copy masters from disk to disk unasked. */
async function examineMove(path: string, done: string): Promise<Finding> {
  const [from, to] = await Promise.all(
    [path, done].map(async (folder) => (await stat(await nearestExisting(folder))).dev),
  )
  if (from === to) return fine('done', done)
  return remark('done', `${done} and ${path} are on different file systems, so sources cannot be moved there`, [
    `Choose a folder on the file system of ${path}.`,
  ])
}

async function examineWatches(folders: readonly WatchedFolder[], isPolled: boolean): Promise<readonly Finding[]> {
  const watched = folders.filter(({ poll }) => !(poll ?? isPolled))
  if (watched.length === 0) return []
  const { countFolders, inotifyWatches } = await import('../../../plugins/watch-folder/index.js')
  const watches = await inotifyWatches()
  if (watches === null) return []
  const counts = await Promise.all(watched.map(({ path }) => countFolders(path, MOST_FOLDERS)))
  const wanted = counts.reduce((sum, count) => sum + count, 0)
  const left = watches.most - watches.used
  const detail = `${left} of ${watches.most} inotify watches left, ${wanted} needed`
  if (wanted <= left) return [fine('watches', detail)]
  return [
    remark('watches', `${detail}: slower scans find the rest`, [
      'Raise fs.inotify.max_user_watches (sysctl), or use --poll.',
    ]),
  ]
}

/**
 * Publishes a hidden test file as an output would be: writes it and links it to a second name. Tries the nearest
 * existing parent if the folder does not exist yet. Leaves nothing behind.
 *
 * @throws {UsageError} `ERR_OUTPUT_UNWRITABLE`, or the system's own fault
 */
async function tryPublishing(folder: string): Promise<'link' | 'rename'> {
  const place = await nearestExisting(folder)
  if (!(await stat(place)).isDirectory())
    throw new UsageError('ERR_OUTPUT_UNWRITABLE', `${place} is a file, not a folder.`, { input: place })
  const [part, published] = [probePath(place), probePath(place)]
  try {
    await writeFile(part, '').catch((cause) => {
      throw unwritable(folder, place, cause)
    })
    return await link(part, published).then(
      () => 'link',
      () => 'rename',
    )
  } finally {
    await rm(part, { force: true })
    await rm(published, { force: true })
  }
}

/** Names the folder, not the test file in it. */
function unwritable(folder: string, place: string, cause: unknown): unknown {
  const reason = reasonAgainstFolder(cause)
  if (reason === undefined) return cause
  const what = folder === place ? `write into ${folder}` : `make ${folder} in ${place}`
  return new UsageError('ERR_OUTPUT_UNWRITABLE', `Cannot ${what}: ${reason}.`, {
    ...{ cause, input: folder },
    remedies: [`Give the user of the service write access to ${place}, and run \`voxmux doctor\` as that user.`],
  })
}

interface Mount {
  readonly point: string
  /** Type in the kernel's spelling: `ext4`, `cifs`, `nfs4`. */
  readonly type: string
}

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
