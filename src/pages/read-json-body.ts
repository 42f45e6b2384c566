import type { IncomingMessage } from 'node:http'
import { UsageError } from '../core/errors.js'

const MOST_BYTES = 256 * 1024

/** Reads the body of a request as JSON. @throws {UsageError} `ERR_USAGE` if it is too long or not JSON */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > MOST_BYTES) throw new UsageError('ERR_USAGE', 'The request is too long.')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw new UsageError('ERR_USAGE', 'The request is not JSON.', { cause })
  }
}
