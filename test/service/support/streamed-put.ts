import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** An upload that never holds more than a chunk of itself. @returns the answer's status */
export async function streamedPut(link: string, sizeBytes: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024)
  const headers = { 'content-length': sizeBytes, 'x-ms-blob-type': 'BlockBlob' }
  const put = request(link, { method: 'PUT', headers, agent: false })
  const status = new Promise<number>((resolve, reject) => {
    put.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    put.on('error', reject)
  })
  await pipeline(Readable.from(repeated(chunk, sizeBytes / chunk.length)), put)
  return status
}

function* repeated(chunk: Buffer, times: number): Generator<Buffer> {
  for (let index = 0; index < times; index += 1) yield chunk
}
