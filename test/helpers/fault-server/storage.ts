import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Fault } from './fault.js'
import type { RemoteFile } from './remote-file.js'
import { errorReply, type Reply } from './reply.js'

interface Link {
  file: RemoteFile
  expiresAtMs: number
  refused: boolean
}

/** Signed links and the bytes behind them: the blob storage beside the service. */
export class FakeStorage {
  /** Set once the server listens. */
  address = ''
  /** False: downloads carry neither ETag nor Last-Modified. */
  validators = true
  /** False: downloads ignore Range, as some caches do. */
  ranges = true
  /** So many uploads arrive with another last byte, and the MD5 that the storage answers with is theirs. */
  spoiledUploads = 0
  /** True: uploads are confirmed and lost. */
  losesUploads = false
  readonly #links = new Map<string, Link>()
  readonly #violations: string[]

  constructor(violations: string[]) {
    this.#violations = violations
  }

  /** A link good for `lifetimeSec`; an `expired-link` fault makes it one that is not. */
  link(kind: 'upload' | 'download', file: RemoteFile, lifetimeSec: number, fault: Fault | undefined) {
    const key = randomUUID()
    const expired = fault?.kind === 'expired-link' ? fault : undefined
    const expiresAtMs = Date.now() + (expired?.past ? -10_000 : lifetimeSec * 1000)
    this.#links.set(key, { file, expiresAtMs, refused: expired !== undefined })
    return { url: `${this.address}/${kind}/${file.id}?sig=${key}`, expiry: Math.floor(expiresAtMs / 1000) }
  }

  /** Every link given out so far is refused from now on. */
  expireLinks(): void {
    for (const link of this.#links.values()) link.refused = true
  }

  linked(url: URL): RemoteFile | undefined {
    const link = this.#links.get(url.searchParams.get('sig') ?? '')
    return link && !link.refused && link.expiresAtMs > Date.now() ? link.file : undefined
  }

  /** What a client must never do is written down, and fails the test when the server is closed. */
  inspect(request: IncomingMessage): void {
    if (request.headers.authorization) this.#violations.push(`a bearer was sent to storage (${request.method})`)
    if (request.method !== 'PUT') return
    const { 'content-length': length, 'content-type': type } = request.headers
    if (length === undefined) this.#violations.push('a PUT without content-length was sent to storage')
    if (type !== 'application/octet-stream') this.#violations.push(`a PUT with content-type ${type} was sent`)
  }

  /** Takes an upload as blob storage does: a chunked one and one without a block type are refused with 400. */
  async put(request: IncomingMessage, file: RemoteFile | undefined, blockTypeHeader: string): Promise<Reply> {
    if (request.headers['content-length'] === undefined || request.headers[blockTypeHeader] !== 'BlockBlob') {
      request.resume()
      return { status: 400, body: { message: 'A required header is missing.' } }
    }
    if (!file) {
      request.resume()
      return { ...errorReply(403, 'Server failed to authenticate the request.') }
    }
    const md5 = createHash('md5')
    const spoiledAt = this.spoiledUploads-- > 0 ? Number(request.headers['content-length']) - 1 : -1
    const stored = async function* (bytes: AsyncIterable<Buffer>) {
      let seen = 0
      for await (const chunk of bytes) {
        const at = spoiledAt - seen
        if (at >= 0 && at < chunk.length) chunk[at] = (chunk[at] ?? 0) ^ 1
        seen += chunk.length
        md5.update(chunk)
        yield chunk
      }
    }
    await pipeline(request, stored, createWriteStream(file.inputPath))
    file.uploaded = !this.losesUploads
    return { status: 201, headers: { 'content-md5': md5.digest('base64') } }
  }

  async get(request: IncomingMessage, file: RemoteFile | undefined): Promise<Reply> {
    if (!file) return errorReply(403, 'Server failed to authenticate the request.')
    if (!file.outputPath) return errorReply(404)
    const size = await file.outputBytes()
    const etag = `"${file.id}"`
    const headers: Record<string, string> = this.validators ? { etag } : {}
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const ifRange = request.headers['if-range']
    if (!range || !this.ranges || (ifRange !== undefined && ifRange !== etag)) {
      return { status: 200, headers, file: { path: file.outputPath, startByte: 0, endByte: size } }
    }
    const startByte = Number(range[1])
    if (startByte >= size) return { ...errorReply(416), headers: { 'content-range': `bytes */${size}` } }
    const endByte = Math.min(size, range[2] ? Number(range[2]) + 1 : size)
    const contentRange = `bytes ${startByte}-${endByte - 1}/${size}`
    return {
      status: 206,
      headers: { ...headers, 'content-range': contentRange },
      file: { path: file.outputPath, startByte, endByte },
    }
  }
}
