import { basename, dirname } from 'node:path'
import { type Inode, type SimFile, systemError } from '../world/inode.js'
import { never, ProcessGone } from '../world/sim-process.js'
import type { World } from '../world/world.js'

/** What `stat` answers, with `bigint` or without. */
export type BigStats = ReturnType<typeof statsOf>

const BLOCK_BYTES = 512

export function statsOf(inode: Inode, isBig: boolean) {
  const size = inode.kind === 'file' ? inode.bytes.length : 0
  const whole = (value: number) => (isBig ? BigInt(Math.floor(value)) : value)
  return {
    size: whole(size),
    blocks: whole(Math.ceil(size / BLOCK_BYTES)),
    ino: whole(inode.ino),
    dev: whole(inode.disk.device),
    nlink: whole(1),
    mode: whole(inode.kind === 'file' ? 0o100644 : 0o40755),
    uid: whole(0),
    mtimeMs: whole(inode.mtimeMs),
    ctimeMs: whole(inode.ctimeMs),
    mtimeNs: BigInt(Math.floor(inode.mtimeMs * 1000)) * 1000n,
    ctimeNs: BigInt(Math.floor(inode.ctimeMs * 1000)) * 1000n,
    mtime: new Date(inode.mtimeMs),
    isFile: () => inode.kind === 'file',
    isDirectory: () => inode.kind === 'folder',
    isSymbolicLink: () => false,
  }
}

/** The handle that `open` gives. */
export class SimHandle {
  readonly fd = 1000
  readonly #world: World
  readonly #path: string
  readonly #inode: Inode
  #position = 0

  constructor(world: World, path: string, inode: Inode) {
    this.#world = world
    this.#path = path
    this.#inode = inode
  }

  stat(options: { readonly bigint?: boolean } = {}) {
    return this.#do('fstat', () => statsOf(this.#inode, options.bigint ?? false))
  }

  read(buffer: Buffer, offset = 0, length = buffer.length - offset, position: number | null = null) {
    return this.#do('read', () => {
      const from = position ?? this.#position
      const part = this.#file().bytes.subarray(from, from + length)
      part.copy(buffer, offset)
      if (position === null) this.#position += part.length
      return { bytesRead: part.length, buffer }
    })
  }

  write(buffer: Buffer, offset = 0, length = buffer.length - offset, position: number | null = null) {
    return this.#do('write', () => {
      const from = position ?? this.#position
      const { bytes } = this.#file()
      const part = buffer.subarray(offset, offset + length)
      const gap = Buffer.alloc(Math.max(0, from - bytes.length))
      this.#put(Buffer.concat([bytes.subarray(0, from), gap, part, bytes.subarray(from + part.length)]))
      if (position === null) this.#position += part.length
      return { bytesWritten: part.length, buffer }
    })
  }

  async writeFile(data: string | Buffer): Promise<void> {
    const bytes = Buffer.from(data)
    await this.write(bytes, 0, bytes.length)
  }

  async readFile(encoding?: unknown) {
    const bytes = await this.#do('read', () => this.#file().bytes.subarray(this.#position))
    return encoding === undefined ? Buffer.from(bytes) : bytes.toString('utf8')
  }

  truncate(length = 0) {
    return this.#do('ftruncate', () => this.#put(this.#file().bytes.subarray(0, length)))
  }

  sync() {
    return this.#do('fsync', () => this.syncNow())
  }

  syncNow(): void {
    if (this.#inode.kind === 'file') this.#inode.synced = this.#inode.bytes
    else this.#inode.disk.unsynced.length = 0
  }

  datasync() {
    return this.sync()
  }

  close() {
    return this.#world.current?.isAlive === false ? never<void>() : Promise.resolve()
  }

  async [Symbol.asyncDispose]() {
    await this.close()
  }

  #do<T>(call: string, work: () => T): Promise<T> {
    return this.#world.perform(call, () => {
      this.#world.tree.requireThere(this.#inode, call, this.#path)
      return work()
    })
  }

  #put(bytes: Buffer): void {
    this.#world.tree.write(this.#file(), bytes, this.#world.maker, this.#path)
  }

  #file(): SimFile {
    if (this.#inode.kind === 'folder') throw systemError('EISDIR', 'read', this.#path)
    return this.#inode
  }
}

const [O_ACCMODE, O_CREAT, O_EXCL, O_TRUNC] = [3, 0o100, 0o200, 0o1000]

/** Opens a file, and makes it where the flags say so. @throws what Node throws */
export function openFile(world: World, path: string, flags: string | number): SimHandle {
  const wants =
    typeof flags === 'string'
      ? { write: flags !== 'r', make: /[wa]/.test(flags), alone: flags.includes('x'), empty: flags.startsWith('w') }
      : {
          write: (flags & O_ACCMODE) !== 0,
          make: (flags & O_CREAT) !== 0,
          alone: (flags & O_EXCL) !== 0,
          empty: (flags & O_TRUNC) !== 0,
        }
  if (world.current?.isAlive === false) throw new ProcessGone()
  const { tree } = world
  const found = tree.find(path, 'open')
  if (found && wants.make && wants.alone) throw systemError('EEXIST', 'open', path)
  if (found?.kind === 'folder' && wants.write) throw systemError('EISDIR', 'open', path)
  if (found) {
    if (found.kind === 'file' && wants.empty) tree.write(found, Buffer.alloc(0), world.maker, path)
    return new SimHandle(world, path, found)
  }
  if (!wants.make) throw systemError('ENOENT', 'open', path)
  const folder = tree.folder(dirname(path), 'open')
  const made = tree.newFile(folder.disk, world.maker)
  tree.setName(`${dirname(path)}/${basename(path)}`, made, world.maker, 'open')
  return new SimHandle(world, path, made)
}
