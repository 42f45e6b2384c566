import type { FileHandle } from 'node:fs/promises'
import { extendedTypeOf, parseHeader } from '../../probe/movie/parse-boxes.js'
import { type NearReader, nearReader } from '../../probe/near-reader.js'
import { MAX_STRUCTURES, type Structure } from './structure.js'

/** Boxes whose content is boxes and nothing else. */
const CONTAINERS = new Set([
  ...['moov', 'trak', 'mdia', 'minf', 'stbl', 'dinf', 'edts', 'udta', 'mvex', 'moof', 'traf', 'mfra', 'tref', 'gmhd'],
  ...['tapt', 'sinf', 'schi'],
])
const DEEPEST = 12
/** Extended type of the `uuid` box that holds Content Credentials. */
export const CREDENTIALS_TYPE = 'd8fec3d61b0e483c92975828877ec481'
/** Path of that box among the structures. */
export const CREDENTIALS_BOX = 'uuid (C2PA)'

/** Lists the boxes of an ISO base media or QuickTime file; undefined if one of them does not fit into its parent. */
export async function isoBoxes(file: FileHandle, sizeBytes: number): Promise<readonly Structure[] | undefined> {
  const found: Structure[] = []
  return (await listBoxes(nearReader(file), { start: 0, end: sizeBytes, path: '' }, found, 0)) ? found : undefined
}

interface Parent {
  readonly start: number
  readonly end: number
  readonly path: string
}

async function listBoxes(read: NearReader, parent: Parent, found: Structure[], depth: number): Promise<boolean> {
  for (let at = parent.start; at < parent.end; ) {
    const left = parent.end - at
    const head = await read(at, Math.min(32, left))
    // QuickTime ends a list of user data with four zero bytes.
    if (left === 4 && head.every((byte) => byte === 0) && parent.path.endsWith('udta')) {
      found.push({ path: `${parent.path}/end`, start: at, length: 4 })
      return true
    }
    const header = parseHeader(head)
    if (!header || found.length > MAX_STRUCTURES || depth > DEEPEST) return false
    const { type, headerBytes } = header
    // Only a box of the file itself may reach to its end.
    const size = header.length ?? (depth === 0 ? left : 0)
    if (size < headerBytes || size > left) return false
    const isSigned = extendedTypeOf(header, head) === CREDENTIALS_TYPE
    const name = isSigned && parent.path === '' ? CREDENTIALS_BOX : type
    const path = parent.path === '' ? name : `${parent.path}/${type}`
    const parts: Structure[] = []
    const inside = { start: at + headerBytes, end: at + size, path }
    if (CONTAINERS.has(type) && (await listBoxes(read, inside, parts, depth + 1))) {
      found.push({ path, start: at, length: headerBytes })
      // One by one: too many arguments of a call overflow the stack.
      for (const part of parts) found.push(part)
    } else found.push({ path, start: at, length: size })
    at += size
  }
  return true
}
