import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { HttpFault } from '../http-fault.js'
import type { StreamAnswer } from '../transport.js'

/**
 * Returns the bytes of a downloaded file without a `Content-Encoding`, which some proxies add unasked.
 *
 * @throws {HttpFault} `bad-answer` for an encoding that is unknown, damaged or truncated; also every error of the
 * response's bytes
 */
export function plainBytes(answer: StreamAnswer): AsyncIterable<Buffer> {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? ''
  switch (encoding) {
    case '':
    case 'identity':
      return answer.bytes
    case 'gzip':
    case 'x-gzip':
      return decoded(answer, createGunzip())
    case 'deflate':
      return decoded(answer, createInflate())
    case 'br':
      return decoded(answer, createBrotliDecompress())
    default:
      answer.discard()
      throw badDownload(`it is encoded as ${encoding}`)
  }
}

async function* decoded({ bytes }: StreamAnswer, decoder: Transform): AsyncGenerator<Buffer> {
  let fault: unknown
  const feeding = pipeline(bytes, decoder).catch((thrown: unknown) => {
    fault = thrown
  })
  try {
    for await (const chunk of decoder) yield chunk as Buffer
  } catch (thrown) {
    await feeding
    const cause = fault ?? thrown
    const isDamaged = cause instanceof Error && /^Z_/.test((cause as NodeJS.ErrnoException).code ?? '')
    throw isDamaged ? badDownload('its encoding is damaged or truncated') : cause
  } finally {
    decoder.destroy()
  }
}

/** A download that arrived but is not the file. */
export function badDownload(detail: string): HttpFault {
  return new HttpFault({ operation: 'download', reason: 'bad-answer', detail })
}
