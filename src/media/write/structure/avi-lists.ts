import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { unlessMalformed } from '../../probe/malformed-file.js'
import { type HeaderPart, parseHeaders } from './avi-headers.js'
import type { Structure } from './structure.js'

/** Lists of an AVI whose chunks are structures of their own. */
const OPENED: ReadonlySet<string> = new Set(['hdrl', 'INFO'])
/** Headers and tags are shorter. */
const MOST_BYTES = 4 * 1024 ** 2
/** The program that wrote the file, in `INFO`. ffmpeg writes its own name there. */
const OWN_NAME = 'Lavf'
/** The kind of a stream that holds sound and picture: DV of type 1. */
const JOINED = 'iavs'

/** The structures of an AVI with the chunks in its header and in its tags. */
export async function withAviLists(file: FileHandle, structures: Iterable<Structure>): Promise<readonly Structure[]> {
  const opened: Structure[] = []
  for (const structure of structures) {
    const isOpened = structure.path === 'RIFF/AVI/LIST' && structure.length <= MOST_BYTES
    const parts = (isOpened ? await openedList(file, structure) : undefined) ?? [structure]
    // A list can have more parts than a call takes arguments.
    for (const part of parts) opened.push(part)
  }
  return opened
}

/** The head of a list and the structures in it; undefined if it is another list or does not follow the rules. */
async function openedList(file: FileHandle, { start, length }: Structure): Promise<readonly Structure[] | undefined> {
  const bytes = await readAt(file, start, length)
  const list = unlessMalformed(() => parseHeaders(bytes, start), undefined)
  return list && OPENED.has(list.id) ? structuresOf(list, 'RIFF/AVI') : undefined
}

function structuresOf({ id, start, bodyStart, end, body, children }: HeaderPart, around: string): readonly Structure[] {
  const path = `${around}/${nameOf(id, body)}`
  if (!children) return [{ path, start, length: end - start }]
  return [{ path, start, length: bodyStart - start }, ...children.flatMap((child) => structuresOf(child, path))]
}

function nameOf(id: string, body: Buffer): string {
  if (id === 'ISFT' && body.toString('latin1').startsWith(OWN_NAME)) return `${id} (${OWN_NAME})`
  return id === 'strh' && body.toString('latin1', 0, 4) === JOINED ? `strh (${JOINED})` : id.trim()
}
