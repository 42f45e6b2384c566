/** Who made a file. What a person made, voxmux may only read. */
export type Maker = 'person' | 'voxmux'

export interface SimFile {
  readonly kind: 'file'
  readonly ino: number
  readonly disk: Disk
  readonly maker: Maker
  bytes: Buffer
  /** What a power cut leaves of it; null: the name may come back empty. */
  synced: Buffer | null
  /** Unix milliseconds by the clock of the machine. */
  mtimeMs: number
  ctimeMs: number
}

export interface SimFolder {
  readonly kind: 'folder'
  readonly ino: number
  readonly disk: Disk
  readonly maker: Maker
  readonly entries: Map<string, Inode>
  mtimeMs: number
  ctimeMs: number
}

export type Inode = SimFile | SimFolder

/** How a disk or share is at the moment; `gone`: unmounted, the bare folder below it shows. */
export type DiskState = 'there' | 'gone' | 'EIO' | 'ESTALE'

/** A disk, or a share that is mounted. */
export interface Disk {
  readonly device: number
  readonly hasLinks: boolean
  state: DiskState
  isFull: boolean
  /** Changes of names that a power cut may take back, the oldest first. */
  readonly unsynced: (() => void)[]
}

export function newDisk(device: number, hasLinks: boolean): Disk {
  return { device, hasLinks, state: 'there', isFull: false, unsynced: [] }
}

/** An error as Node throws it. */
export function systemError(code: string, call: string, path: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`${code}: simulated, ${call} '${path}'`)
  error.code = code
  error.syscall = call
  error.path = path
  error.errno = -1
  return error
}
