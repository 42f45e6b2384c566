import { basename, dirname } from 'node:path'
import { type Disk, type Inode, type Maker, newDisk, type SimFile, type SimFolder, systemError } from './inode.js'

/** Told of what happens to names and bytes, before it happens. */
export interface TreeGuard {
  /** A name gets another file, or none. */
  onName(path: string, before: Inode | undefined, after: Inode | undefined, by: Maker): void
  /** Bytes of a file change. */
  onBytes(file: SimFile, by: Maker): void
}

/** Folders, files and mounts. Every change of a name goes through here, so that a power cut can take it back. */
export class FileTree {
  readonly local: Disk
  readonly root: SimFolder
  guard: TreeGuard | null = null
  /** Called for each change of a name or of bytes in a folder. */
  readonly watchers = new Map<SimFolder, Set<(name: string) => void>>()
  readonly #mounts = new Map<SimFolder, SimFolder>()
  /** Names in each path that was looked for. */
  readonly #names = new Map<string, readonly string[]>()
  readonly #nowMs: () => number
  #inodes = 1

  /** @param number of the world: no file of one is to be taken for a file of another */
  constructor(number: number, nowMs: () => number) {
    this.local = newDisk(2 * number, true)
    this.#nowMs = nowMs
    this.root = this.newFolder(this.local, 'person')
  }

  newFile(disk: Disk, maker: Maker): SimFile {
    const now = this.#nowMs()
    const own = { ino: this.#inodes++, disk, maker, bytes: Buffer.alloc(0), synced: null }
    return { kind: 'file', ...own, mtimeMs: now, ctimeMs: now }
  }

  newFolder(disk: Disk, maker: Maker): SimFolder {
    const now = this.#nowMs()
    return { kind: 'folder', ino: this.#inodes++, disk, maker, entries: new Map(), mtimeMs: now, ctimeMs: now }
  }

  /** Mounts a share on a folder that is there. @returns the share's own root */
  mount(path: string, disk: Disk): SimFolder {
    const place = this.folder(path, 'mount')
    const share = this.newFolder(disk, 'person')
    this.#mounts.set(place, share)
    return share
  }

  /** The disk of the machine, and those of all shares. */
  get disks(): readonly Disk[] {
    return [this.local, ...[...this.#mounts.values()].map(({ disk }) => disk)]
  }

  /** Every file there is, with its path; those of shares that are away too. */
  *allFiles(folder: SimFolder = this.root, path = ''): Generator<readonly [string, SimFile]> {
    for (const [name, inode] of (this.#mounts.get(folder) ?? folder).entries) {
      if (inode.kind === 'file') yield [`${path}/${name}`, inode]
      else yield* this.allFiles(inode, `${path}/${name}`)
    }
  }

  /** What lies at a path, with mounts followed; undefined where nothing does. */
  find(path: string, call: string): Inode | undefined {
    let at: Inode = this.root
    for (const name of this.#namesIn(path)) {
      if (at.kind === 'file') throw systemError('ENOTDIR', call, path)
      const next = at.entries.get(name)
      if (next === undefined) return undefined
      at = next.kind === 'folder' ? this.#mounted(next, call, path) : next
    }
    return at
  }

  #namesIn(path: string): readonly string[] {
    const known = this.#names.get(path)
    if (known) return known
    const names = path.split('/').filter((name) => name !== '' && name !== '.')
    this.#names.set(path, names)
    return names
  }

  get(path: string, call: string): Inode {
    const found = this.find(path, call)
    if (!found) throw systemError('ENOENT', call, path)
    return found
  }

  folder(path: string, call: string): SimFolder {
    const found = this.get(path, call)
    if (found.kind === 'file') throw systemError('ENOTDIR', call, path)
    return found
  }

  file(path: string, call: string): SimFile {
    const found = this.get(path, call)
    if (found.kind === 'folder') throw systemError('EISDIR', call, path)
    return found
  }

  /** Gives a name in a folder to an inode, or to none. */
  setName(path: string, inode: Inode | undefined, by: Maker, call: string): void {
    const folder = this.folder(dirname(path), call)
    const name = basename(path)
    const before = folder.entries.get(name)
    if (before === inode) return
    if (inode && !before && folder.disk.isFull && by === 'voxmux') throw systemError('ENOSPC', call, path)
    this.guard?.onName(path, before, inode, by)
    put(folder, name, inode)
    this.#tell(folder, name)
    const now = this.#nowMs()
    folder.mtimeMs = now
    if (inode) inode.ctimeMs = now
    // What a person does on a share is on its disk at once: it is not what is tested here.
    if (by === 'voxmux') folder.disk.unsynced.push(() => put(folder, name, before))
  }

  /** Gives an inode another name, in one step that a power cut takes back whole. */
  rename(from: string, to: string, inode: Inode, by: Maker): void {
    const [source, target] = [this.folder(dirname(from), 'rename'), this.folder(dirname(to), 'rename')]
    const replaced = target.entries.get(basename(to))
    if (replaced === inode) return
    this.guard?.onName(to, replaced, inode, by)
    this.guard?.onName(from, inode, undefined, by)
    put(source, basename(from), undefined)
    put(target, basename(to), inode)
    this.#tell(source, basename(from))
    this.#tell(target, basename(to))
    const now = this.#nowMs()
    Object.assign(source, { mtimeMs: now })
    Object.assign(target, { mtimeMs: now })
    inode.ctimeMs = now
    if (by === 'person') return
    target.disk.unsynced.push(() => {
      put(target, basename(to), replaced)
      put(source, basename(from), inode)
    })
  }

  write(file: SimFile, bytes: Buffer, by: Maker, path: string): void {
    this.requireThere(file, 'write', path)
    this.guard?.onBytes(file, by)
    if (by === 'voxmux' && file.disk.isFull && bytes.length > file.bytes.length) {
      file.bytes = bytes.subarray(0, file.bytes.length + Math.floor((bytes.length - file.bytes.length) / 2))
      throw systemError('ENOSPC', 'write', path)
    }
    file.bytes = bytes
    this.#tell(this.find(dirname(path), 'write'), basename(path))
    file.mtimeMs = this.#nowMs()
    file.ctimeMs = file.mtimeMs
    if (by === 'person') file.synced = bytes
  }

  /** @throws EIO, ESTALE where the disk of an open file is away */
  requireThere({ disk }: Inode, call: string, path: string): void {
    if (disk.state !== 'there') throw systemError(disk.state === 'gone' ? 'EIO' : disk.state, call, path)
  }

  #tell(folder: Inode | undefined, name: string): void {
    if (folder?.kind === 'folder') for (const listener of this.watchers.get(folder) ?? []) listener(name)
  }

  #mounted(place: SimFolder, call: string, path: string): SimFolder {
    const share = this.#mounts.get(place)
    if (!share || share.disk.state === 'gone') return place
    this.requireThere(share, call, path)
    return share
  }
}

function put(folder: SimFolder, name: string, inode: Inode | undefined): void {
  if (inode) folder.entries.set(name, inode)
  else folder.entries.delete(name)
}
