import { open, readFile, stat } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readZipDirectory } from './bundles/zip-directory.js'
import { entryContent } from './bundles/zip-entry.js'
import { TimelineSyntaxError } from './timeline-error.js'

/** A person does not cut a larger timeline. */
const MOST_BYTES = 256 * 1024 ** 2

/** Real projects shrink to a twentieth, and deflate cannot exceed 1,032. */
const MOST_GROWTH = 100
const USUAL_BYTES = 64 * 1024

/** Elements of a small file are few enough for any memory. A project has one or less for each of its packed bytes. */
const FEW_ELEMENTS = 250_000
const ELEMENTS_PER_BYTE = 3
/** The bytes with which an element of XML, and a value of JSON, begins. */
const [XML_MARKS, JSON_MARKS] = ['<', '{[,'].map((marks) => new Set(Buffer.from(marks))) as [Set<number>, Set<number>]

/** Name of the timeline in an OTIO bundle. */
export const OTIO_TEXT = 'content.otio'

/**
 * The bytes of a timeline's text, unpacked.
 *
 * @param path of the file that holds the text
 * @throws {TimelineSyntaxError} if it is damaged or too large
 */
export async function timelineBytes(path: string, extension: string): Promise<Buffer> {
  if (extension === '.otioz') return archivedText(path)
  if ((await stat(path)).size > MOST_BYTES) throw tooLarge()
  const bytes = await readFile(path)
  return extension === '.prproj' ? unzipped(bytes) : bytes
}

/** Inverse of {@link timelineBytes} for a timeline that is one file. */
export function packedBytes(bytes: Buffer, extension: string): Buffer {
  return extension === '.prproj' ? gzipSync(bytes) : bytes
}

/** Premiere also opens a project that is plain XML. */
function unzipped(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const most = Math.min(MOST_BYTES, (bytes.length + USUAL_BYTES) * MOST_GROWTH)
  return requireFew(inflated(bytes, most), bytes.length, XML_MARKS)
}

function inflated(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge()
    throw new TimelineSyntaxError('it is damaged: it does not unzip', { cause })
  }
}

async function archivedText(path: string): Promise<Buffer> {
  await using file = await open(path, 'r')
  const { entries } = await readZipDirectory(file)
  const entry = entries.find(({ name }) => name === OTIO_TEXT)
  if (!entry) throw new TimelineSyntaxError(`the archive holds no ${OTIO_TEXT}`)
  if (entry.sizeBytes > MOST_BYTES) throw tooLarge()
  return requireFew(Buffer.concat(await (await entryContent(file, entry)).toArray()), entry.compressedBytes, JSON_MARKS)
}

/** Refuses a text of so many elements that only an attack packs it so small. Each takes some hundred bytes of memory. */
function requireFew(text: Buffer, packedBytes: number, marks: ReadonlySet<number>): Buffer {
  let left = FEW_ELEMENTS + ELEMENTS_PER_BYTE * packedBytes
  for (const byte of text) if (marks.has(byte)) left -= 1
  if (left < 0) throw tooLarge()
  return text
}

function tooLarge(): TimelineSyntaxError {
  return new TimelineSyntaxError('it is larger than any timeline')
}
