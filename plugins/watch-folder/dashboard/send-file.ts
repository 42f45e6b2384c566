import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { readByteRange } from './byte-range.js'
import { sendFault } from './respond.js'

/**
 * Streams a file, or the part of it that is asked for: players seek by ranges.
 *
 * @param path found by us, never by the client
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  type: string,
): Promise<void> {
  const handle = await open(path).catch(() => null)
  if (handle === null) return sendFault(response, 404, 'The file is not there any more.')
  try {
    const { size } = await handle.stat()
    const range = readByteRange(request.headers.range, size)
    response.setHeader('accept-ranges', 'bytes')
    if (range === 'unsatisfiable') {
      response.setHeader('content-range', `bytes */${size}`)
      return sendFault(response, 416, 'The file is shorter than that.')
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
    // A player that was closed breaks the stream off: that is no fault.
    await pipeline(handle.createReadStream({ start: firstByte, end: lastByte, autoClose: false }), response).catch(
      () => {},
    )
  } finally {
    await handle.close()
  }
}
