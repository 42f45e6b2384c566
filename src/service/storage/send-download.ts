import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { readByteRange } from '../../core/byte-range.js'
import { contentDisposition, mediaTypeOf } from './file-storage.js'
import { ifMissing } from './if-missing.js'
import { blobHeaders, StorageFault } from './storage-answers.js'

/** Answers a GET or HEAD of a file, whole or one range of it (RFC 9110, 14). @throws {StorageFault} */
export async function sendDownload(
  request: IncomingMessage,
  response: ServerResponse,
  source: { readonly path: string; readonly extension: string; readonly name: string },
): Promise<void> {
  // Keep the file open: a deletion in the meantime removes the name, not the bytes that are being sent.
  await using file = await open(source.path, 'r').catch(ifMissing(undefined))
  if (!file) throw new StorageFault('BlobNotFound')
  const { size, mtime } = await file.stat()
  const etag = `"${size.toString(16)}-${mtime.getTime().toString(16)}"`
  const range = askedRange(request, size, etag, mtime)
  if (range === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${size}`)
    throw new StorageFault('InvalidRange')
  }
  response.writeHead(range ? 206 : 200, {
    ...blobHeaders(),
    'content-type': mediaTypeOf(source.extension),
    'content-disposition': contentDisposition(source.name, source.extension),
    'content-length': range ? range.lastByte - range.firstByte + 1 : size,
    ...(range && { 'content-range': `bytes ${range.firstByte}-${range.lastByte}/${size}` }),
    'accept-ranges': 'bytes',
    etag,
    'last-modified': mtime.toUTCString(),
    'x-content-type-options': 'nosniff',
    'x-ms-blob-type': 'BlockBlob',
    'x-ms-creation-time': mtime.toUTCString(),
  })
  if (request.method === 'HEAD' || size === 0) response.end()
  else
    await pipeline(file.createReadStream({ start: range?.firstByte, end: range?.lastByte, autoClose: false }), response)
}

/** The requested range; null for the whole file, which may also answer several ranges. */
function askedRange({ headers }: IncomingMessage, size: number, etag: string, mtime: Date) {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== etag && condition !== mtime.toUTCString()) return null
  // Azure's client uses its own header, which overrides the standard one.
  return readByteRange(String(headers['x-ms-range'] ?? headers.range ?? ''), size)
}
