import type { FileHandle } from 'node:fs/promises'
import { ASF_DATA, ASF_HEAD_BYTES, ASF_HEADER, asfHeadAt } from '../../probe/asf-head.js'
import { MAX_STRUCTURES, type Structure } from './structure.js'

const HEADER_EXTENSION = '5fbf03b5-a92e-11cf-8ee3-00c00c205365'
/** Bytes between the head of an object and the objects in it. */
const PREFACE: ReadonlyMap<string, number> = new Map([
  [ASF_HEADER, 6],
  [HEADER_EXTENSION, 22],
])

/** The extension of a header is in the header, and holds nothing that holds objects. */
const DEEPEST = 2

/** Names of the objects (Advanced Systems Format specification, revision 01.20.06, section 10). */
const NAMES: ReadonlyMap<string, string> = new Map([
  [ASF_HEADER, 'Header'],
  [HEADER_EXTENSION, 'Header Extension'],
  [ASF_DATA, 'Data'],
  ['33000890-e5b1-11cf-89f4-00a0c90349cb', 'Simple Index'],
  ['d6e229d3-35da-11d1-9034-00a0c90349be', 'Index'],
  ['feb103f8-12ad-4c64-840f-2a1d2f7ad48c', 'Media Object Index'],
  ['3cb73fd0-0c4a-4803-953d-edf7b6228f0c', 'Timecode Index'],
  ['8cabdca1-a947-11cf-8ee4-00c00c205365', 'File Properties'],
  ['b7dc0791-a9b7-11cf-8ee6-00c00c205365', 'Stream Properties'],
  ['86d15240-311d-11d0-a3a4-00a0c90348f6', 'Codec List'],
  ['1efb1a30-0b62-11d0-a39b-00a0c90348f6', 'Script Command'],
  ['f487cd01-a951-11cf-8ee6-00c00c205365', 'Marker'],
  ['d6e229dc-35da-11d1-9034-00a0c90349be', 'Bitrate Mutual Exclusion'],
  ['d1465a40-5a79-4338-b71b-e36b8fd6c249', 'Group Mutual Exclusion'],
  ['a08649cf-4775-4670-8a16-6e35357566cd', 'Advanced Mutual Exclusion'],
  ['a69609e6-517b-11d2-b6af-00c04fd908e9', 'Bandwidth Sharing'],
  ['d4fed15b-88d3-454f-81f0-ed5c45999e24', 'Stream Prioritization'],
  ['75b22635-668e-11cf-a6d9-00aa0062ce6c', 'Error Correction'],
  ['75b22633-668e-11cf-a6d9-00aa0062ce6c', 'Content Description'],
  ['d2d0a440-e307-11d2-97f0-00a0c95ea850', 'Extended Content Description'],
  ['2211b3fa-bd23-11d2-b4b7-00a0c955fc6e', 'Content Branding'],
  ['7bf875ce-468d-11d1-8d82-006097c9a2b2', 'Stream Bitrate Properties'],
  ['2211b3fb-bd23-11d2-b4b7-00a0c955fc6e', 'Content Encryption'],
  ['2211b3fc-bd23-11d2-b4b7-00a0c955fc6e', 'Digital Signature'],
  ['1806d474-cadf-4509-a4ba-9aabcb96aae8', 'Padding'],
  ['14e6a5cb-c672-4332-8399-a96952065b5a', 'Extended Stream Properties'],
  ['7c4346a9-efe0-4bfc-b229-393ede415c85', 'Language List'],
  ['c5f8cbea-5baf-4877-8467-aa8c44fa4cca', 'Metadata'],
  ['44231c94-9498-49d1-a141-1d134e457054', 'Metadata Library'],
  ['d6e229df-35da-11d1-9034-00a0c90349be', 'Index Parameters'],
  ['26f18b5d-4584-47ec-9f5f-0e651f0452c9', 'Compatibility'],
  ['d9aade20-7c17-4f9c-bc28-8555dd98e2a2', 'Index Placeholder'],
  ['be7acfcb-97a9-42e8-9c71-999491e3afac', 'XMP'],
])

/** Lists the objects of an ASF file (WMV, WMA); an unknown one by its GUID. Undefined if one exceeds its parent or is nested too deeply. */
export async function asfObjects(file: FileHandle, sizeBytes: number): Promise<readonly Structure[] | undefined> {
  const found: Structure[] = []
  return (await listObjects(file, { start: 0, end: sizeBytes, path: '' }, found, 0)) ? found : undefined
}

async function listObjects(
  file: FileHandle,
  { start, end, path: parent }: { readonly start: number; readonly end: number; readonly path: string },
  found: Structure[],
  depth: number,
): Promise<boolean> {
  if (depth > DEEPEST) return false
  for (let at = start; at < end; ) {
    const head = await asfHeadAt(file, at)
    if (!head || found.length > MAX_STRUCTURES) return false
    const { guid } = head
    // A recording that was not finished states no size of its packets, which are the rest of the file.
    const length = head.length === 0 && guid === ASF_DATA ? end - at : head.length
    if (length < ASF_HEAD_BYTES || at + length > end) return false
    const name = NAMES.get(guid) ?? guid
    const path = parent === '' ? name : `${parent}/${name}`
    const preface = PREFACE.get(guid)
    if (preface === undefined) found.push({ path, start: at, length })
    else {
      const inside = at + ASF_HEAD_BYTES + preface
      found.push({ path, start: at, length: ASF_HEAD_BYTES + preface })
      if (!(await listObjects(file, { start: inside, end: at + length, path }, found, depth + 1))) return false
    }
    at += length
  }
  return true
}
