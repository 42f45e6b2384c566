import { createHash, getFips, type Hash } from 'node:crypto'
import type { IExecuteFunctions } from 'n8n-workflow'

/** The bytes of a file: a stream if n8n keeps its binary data in files. */
export type Bytes = Awaited<ReturnType<IExecuteFunctions['helpers']['getBinaryStream']>> | Buffer

const CHUNK_BYTES = 256 * 1024

/** The binary data of one item. */
export interface ItemFile {
  readonly name: string
  readonly sizeBytes: number
  /** Two files with one identity have the same bytes. */
  readonly identity: string
  /** Opens the bytes from their start, once for each attempt of an upload. */
  open(): Promise<Bytes>
}

/** @throws {NodeOperationError} if the item has no binary data of this name */
export async function itemFile(host: IExecuteFunctions, index: number, field: string): Promise<ItemFile> {
  const { assertBinaryData, getBinaryDataBuffer, getBinaryMetadata, getBinaryStream } = host.helpers
  const { id, fileName } = assertBinaryData(index, field)
  const name = fileName ?? `item-${index}`
  if (!id) {
    // n8n keeps it in the item itself.
    const bytes = await getBinaryDataBuffer(index, field)
    const identity = createHash('sha256').update(bytes).digest('hex')
    return { name, sizeBytes: bytes.length, identity, open: async () => bytes }
  }
  const { fileSize } = await getBinaryMetadata(id)
  return { name, sizeBytes: fileSize, identity: id, open: () => getBinaryStream(id, CHUNK_BYTES) }
}

/** MD5 of a file, unfinished. Read again, because nothing can listen to the bytes that n8n sends. */
export async function md5Of(file: ItemFile): Promise<Hash | undefined> {
  // A computer in FIPS mode has no MD5.
  if (getFips() !== 0) return undefined
  const md5 = createHash('md5')
  const bytes = await file.open()
  if (Buffer.isBuffer(bytes)) return md5.update(bytes)
  for await (const chunk of bytes) md5.update(chunk as Buffer)
  return md5
}
