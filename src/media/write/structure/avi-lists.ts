import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { Structure } from './structure.js'

/** Lists of an AVI whose chunks are structures of their own, by the name of the list around them. */
const OPENED: Readonly<Record<string, string>> = {
  hdrl: 'hdrl',
  'hdrl/strl': 'strl',
  'hdrl/odml': 'odml',
  INFO: 'INFO',
}
const HEAD_BYTES = 12
/** The program that wrote the file, in `INFO`. ffmpeg writes its own name there. */
const OWN_NAME = 'Lavf'

/** The structures of an AVI with the chunks in its header and in its tags. */
export async function withAviLists(file: FileHandle, structures: readonly Structure[]): Promise<readonly Structure[]> {
  const opened = await Promise.all(
    structures.map((structure) => (structure.path === 'RIFF/AVI/LIST' ? openedList(file, structure, '') : [structure])),
  )
  return opened.flat()
}

/** A list as its head and the structures in it; unopened if it is another list or does not follow the rules. */
async function openedList(file: FileHandle, list: Structure, around: string): Promise<readonly Structure[]> {
  const name = `${around}${(await readAt(file, list.start + 8, 4)).toString('latin1')}`
  if (!Object.hasOwn(OPENED, name)) return [list]
  const end = list.start + list.length
  const inside: Structure[] = [{ ...list, length: HEAD_BYTES }]
  for (let at = list.start + HEAD_BYTES; at < end; ) {
    const head = await readAt(file, at, HEAD_BYTES)
    if (end - at < 8 || head.length < 8) return [list]
    const id = head.toString('latin1', 0, 4)
    const size = head.readUInt32LE(4)
    const length = 8 + size + (size % 2)
    // The last chunk may lack its padding.
    if (at + 8 + size > end) return [list]
    const isOwn = id === 'ISFT' && head.toString('latin1', 8) === OWN_NAME
    const path = id === 'LIST' ? list.path : `RIFF/AVI/${OPENED[name]}/${isOwn ? `${id} (${OWN_NAME})` : id.trim()}`
    const structure = { path, start: at, length: Math.min(length, end - at) }
    inside.push(...(id === 'LIST' ? await openedList(file, structure, `${name}/`) : [structure]))
    at += length
  }
  return inside
}
