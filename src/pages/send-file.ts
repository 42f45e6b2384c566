import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { readByteRange } from '../core/byte-range.js'
import { sendError } from './respond.js'

/**
 * Streams a file or the requested range of it. Players seek by ranges.
 *
 * @param path never chosen by the client. Others may have put something else there: a link is not followed
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  type: string,
): Promise<void> {
  const handle = await openPlain(path).catch(() => null)
  if (handle === null) return sendError(response, 404, 'The file is not there any more.')
  try {
    const { size } = await handle.stat()
    const range = readByteRange(request.headers.range, size)
    response.setHeader('accept-ranges', 'bytes')
    if (range === 'unsatisfiable') {
      response.setHeader('content-range', `bytes */${size}`)
      return sendError(response, 416, 'The file is shorter than that.')
    }
    const { firstByte, lastByte } = range ?? { firstByte: 0, lastByte: size - 1 }
    response.writeHead(range ? 206 : 200, {
      'content-type': type,
      'content-length': lastByte - firstByte + 1,
      ...(range && { 'content-range': `bytes ${firstByte}-${lastByte}/${size}` }),
    })
    if (request.method === 'HEAD' || size === 0) {
      response.end()
      return
    }
    // A player that was closed breaks off the stream. That is not a fault.
    await pipeline(handle.createReadStream({ start: firstByte, end: lastByte, autoClose: false }), response).catch(
      () => {},
    )
  } finally {
    await handle.close()
  }
}

/** Opens a file. A link could lead to what its author may not read, and a pipe would block a thread for ever. */
async function openPlain(path: string): Promise<FileHandle | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  return null
}
