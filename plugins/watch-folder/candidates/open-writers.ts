import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import type { FileFacts } from './file-facts.js'

/** A process of this host that can write to a file. */
export interface OpenWriter {
  readonly pid: number
  readonly command: string
}

/** Identifies a file on this host. */
export function fileKey({ dev, ino }: Pick<FileFacts, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`
}

/**
 * Finds the writers of files by {@link fileKey}, among the processes of this host that `/proc` shows. Only root sees
 * those of other users. A write from a share's client belongs to the server's process if that runs here. Without
 * `/proc` nothing is found.
 *
 * @param wanted keys of the files in question
 */
export async function openWriters(wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, OpenWriter>> {
  const writers = new Map<string, OpenWriter>()
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const key = await keyOfOpenFile(pid, fd)
      if (key === undefined || !wanted.has(key) || writers.has(key) || !(await canWrite(pid, fd))) continue
      writers.set(key, { pid: Number(pid), command: await commandOf(pid) })
    }
  }
  return writers
}

/** Undefined for sockets, pipes and devices, and for a file that was closed meanwhile. */
async function keyOfOpenFile(pid: string, fd: string): Promise<string | undefined> {
  try {
    const link = await readlink(`/proc/${pid}/fd/${fd}`)
    if (!link.startsWith('/')) return undefined
    // Follows the link, because paths differ in a container.
    const facts = await stat(`/proc/${pid}/fd/${fd}`, { bigint: true })
    return facts.isFile() ? fileKey(facts) : undefined
  } catch {
    return undefined
  }
}

async function canWrite(pid: string, fd: string): Promise<boolean> {
  const info = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '')
  const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8)
  // O_ACCMODE: 0 reads, 1 writes, 2 does both.
  return (flags & 3) !== 0
}

async function commandOf(pid: string): Promise<string> {
  return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim()
}
