import { dirname } from 'node:path'
import type { SimFolder } from '../world/inode.js'
import { systemError } from '../world/inode.js'
import type { World } from '../world/world.js'
import { type BigStats, openFile, type SimHandle, statsOf } from './file-handle.js'

type Path = string | URL
type StatOptions = { readonly bigint?: boolean }

/** The functions of `node:fs/promises` that voxmux uses, over the simulated disks. */
export function simulatedPromises(world: World) {
  const { tree } = world
  const stat =
    (call: string) =>
    (path: Path, options: StatOptions = {}) =>
      world.perform(call, () => statsOf(tree.get(String(path), call), options.bigint ?? false) as unknown as BigStats)
  const removeOne = (path: string, force: boolean, recursive: boolean) => {
    const found = tree.find(path, 'rm')
    if (!found) {
      if (force) return
      throw systemError('ENOENT', 'rm', path)
    }
    if (found.kind === 'folder') {
      if (!recursive) throw systemError('ERR_FS_EISDIR', 'rm', path)
      for (const name of [...found.entries.keys()]) removeOne(`${path}/${name}`, true, true)
    }
    tree.setName(path, undefined, world.maker, 'rm')
  }
  const open = (path: Path, flags: string | number = 'r'): Promise<SimHandle> =>
    world.perform('open', () => openFile(world, String(path), flags))

  return {
    open,
    stat: stat('stat'),
    lstat: stat('lstat'),
    realpath: (path: Path) =>
      world.perform('realpath', () => {
        tree.get(String(path), 'realpath')
        return String(path)
      }),
    access: (path: Path) => world.perform('access', () => void tree.get(String(path), 'access')),
    chmod: () => world.perform('chmod', () => {}),
    readlink: (path: Path) =>
      world.perform('readlink', (): string => {
        throw systemError('EINVAL', 'readlink', String(path))
      }),
    link: (from: Path, to: Path) =>
      world.perform('link', () => {
        const file = tree.file(String(from), 'link')
        if (!file.disk.hasLinks) throw systemError('EPERM', 'link', String(to))
        const folder = tree.folder(dirname(String(to)), 'link')
        if (folder.disk !== file.disk) throw systemError('EXDEV', 'link', String(to))
        if (tree.find(String(to), 'link')) throw systemError('EEXIST', 'link', String(to))
        tree.setName(String(to), file, world.maker, 'link')
      }),
    rename: (from: Path, to: Path) =>
      world.perform('rename', () => {
        const inode = tree.get(String(from), 'rename')
        const folder = tree.folder(dirname(String(to)), 'rename')
        if (folder.disk !== inode.disk) throw systemError('EXDEV', 'rename', String(to))
        tree.rename(String(from), String(to), inode, world.maker)
      }),
    rm: (path: Path, { force = false, recursive = false } = {}) =>
      world.perform('rm', () => removeOne(String(path), force, recursive)),
    unlink: (path: Path) => world.perform('unlink', () => removeOne(String(path), false, false)),
    rmdir: (path: Path) => world.perform('rmdir', () => removeOne(String(path), false, true)),
    mkdir: (path: Path, { recursive = false } = {}) =>
      world.perform('mkdir', () => void world.makeFolder(String(path), recursive)),
    readdir: (path: Path, options: { readonly withFileTypes?: boolean } = {}) =>
      world.perform('readdir', () => {
        const folder = tree.folder(String(path), 'readdir')
        return options.withFileTypes ? entriesOf(folder) : [...folder.entries.keys()]
      }),
    opendir: (path: Path) =>
      world.perform('opendir', () => {
        const entries = entriesOf(tree.folder(String(path), 'opendir'))
        return {
          async *[Symbol.asyncIterator]() {
            yield* entries
          },
          close: async () => {},
        }
      }),
    statfs: (path: Path) =>
      world.perform('statfs', () => {
        const { disk } = tree.get(String(path), 'statfs')
        return { bavail: disk.isFull ? 0 : 1e9, bsize: 4096 }
      }),
    utimes: (path: Path, _atime: Date, mtime: Date) =>
      world.perform('utimes', () => {
        const found = tree.get(String(path), 'utimes')
        if (found.kind === 'file') tree.guard?.onBytes(found, world.maker)
        found.mtimeMs = mtime.getTime()
      }),
    readFile: async (path: Path, encoding?: unknown) => {
      const bytes = await world.perform('readFile', () => tree.file(String(path), 'open').bytes)
      return encoding === undefined ? Buffer.from(bytes) : bytes.toString('utf8')
    },
    writeFile: async (path: Path, data: string | Buffer, options: { readonly flag?: string; flush?: boolean } = {}) => {
      const handle = await open(path, options.flag ?? 'w')
      await handle.writeFile(data)
      if (options.flush) await handle.sync()
      await handle.close()
    },
    copyFile: async (from: Path, to: Path, mode = 0) => {
      const bytes = await world.perform('copyFile', () => tree.file(String(from), 'copyfile').bytes)
      const handle = await open(to, (mode & 1) === 1 ? 'wx' : 'w')
      await handle.writeFile(bytes)
      await handle.close()
    },
  }
}

function entriesOf(folder: SimFolder) {
  return [...folder.entries].map(([name, { kind }]) => ({
    name,
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'folder',
    isSymbolicLink: () => false,
  }))
}
