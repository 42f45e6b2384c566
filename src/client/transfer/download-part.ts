import type { FileHandle } from 'node:fs/promises'
import { isText } from '../../core/visible-text.js'
import { statusFault } from '../exchange-json.js'
import { HttpFault } from '../http-fault.js'
import type { StreamAnswer } from '../transport.js'
import { badDownload, plainBytes } from './plain-bytes.js'
import { HTML_TYPE } from './require-stored.js'
import type { TransferContext, TransferOptions } from './upload-file.js'

const HTML_START = /^\s*(<!doctype html|<html)/i
/** Every audio and video format has a byte in its first bytes that no text has. */
const HEAD_BYTES = 512

/** Thrown for a file that is, or becomes, larger than its limit. */
export class OversizeError extends Error {
  constructor(readonly maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
  }
}

/** A file that a download fills, in as many requests as it takes. */
export class DownloadPart {
  readonly #file: FileHandle
  readonly #maxBytes: number
  #writtenBytes = 0
  /** Announced length, or null. */
  #totalBytes: number | null = null
  /** Entity tag and date of the last change, as the file began. */
  #version: Version = {}
  #isEncoded = false

  constructor(file: FileHandle, maxBytes = Number.POSITIVE_INFINITY) {
    this.#file = file
    this.#maxBytes = maxBytes
  }

  get writtenBytes(): number {
    return this.#writtenBytes
  }

  /** True if the written bytes were decoded from a `Content-Encoding`. */
  get isEncoded(): boolean {
    return this.#isEncoded
  }

  /** Forgets what was written. The next request asks for the whole file. */
  async restart(): Promise<void> {
    if (this.#writtenBytes > 0) await this.#file.truncate(0)
    this.#writtenBytes = 0
    this.#totalBytes = null
    this.#version = {}
    this.#isEncoded = false
  }

  /**
   * Sends one GET for the bytes after the part.
   *
   * @returns the length of the file, which is complete
   * @throws {HttpFault}
   * @throws {OversizeError}
   */
  async complete(
    url: URL,
    { transport }: TransferContext,
    { signal, onProgress, mayBeText }: TransferOptions & { readonly mayBeText?: boolean | undefined },
  ): Promise<number> {
    const headers = rangeHeaders(this.#writtenBytes, validatorOf(this.#version))
    const answer = await transport.getStream({ operation: 'download', url: url.href, headers, signal })
    await this.#begin(answer)
    if ((this.#totalBytes ?? 0) > this.#maxBytes) {
      answer.discard()
      throw new OversizeError(this.#maxBytes)
    }
    for await (const chunk of plainBytes(answer)) {
      if (this.#writtenBytes === 0 && HTML_START.test(chunk.toString('latin1', 0, 64))) throw webPage(answer)
      await this.#write(chunk)
      onProgress?.({ transferredBytes: this.#writtenBytes, totalBytes: this.#totalBytes })
    }
    await this.#requireLength()
    if (!mayBeText) await this.#requireSound(answer)
    return this.#writtenBytes
  }

  /** Reads the response headers: the part continues, the file restarts, or the download fails. */
  async #begin(answer: StreamAnswer): Promise<void> {
    const { status } = answer
    if (status === 206) return this.#continue(answer)
    if (status === 200) return this.#takeWhole(answer)
    answer.discard()
    // 416: the existing part cannot be resumed. The next attempt requests the whole file.
    if (status === 416) await this.restart()
    if (status === 416 || (status >= 200 && status < 300)) throw badDownload(`status ${status}`)
    throw statusFault('download', { ...answer, text: '' })
  }

  async #continue(answer: StreamAnswer): Promise<void> {
    const { headers } = answer
    const range = headers['content-encoding'] ? undefined : contentRange(headers['content-range'])
    const isNext = range?.startByte === this.#writtenBytes
    const isSame = (this.#totalBytes ?? range?.totalBytes) === range?.totalBytes && this.#isSameFile(headers)
    if (range && isNext && isSame) {
      this.#totalBytes = range.totalBytes
      return
    }
    answer.discard()
    await this.restart()
    throw badDownload('the response is another part of the file')
  }

  /** Not every storage obeys If-Range: a part may be of a file that was replaced by one of the same length. */
  #isSameFile({ etag, 'last-modified': lastModified }: Version): boolean {
    const { etag: tag, 'last-modified': date } = this.#version
    if (tag && etag && tag.replace('W/', '') !== etag.replace('W/', '')) return false
    // Equal weak tags prove nothing.
    const isProved = tag === etag && tag?.startsWith('"')
    return isProved || !date || !lastModified || date === lastModified
  }

  async #takeWhole(answer: StreamAnswer): Promise<void> {
    const { headers } = answer
    await this.restart()
    if (HTML_TYPE.test(headers['content-type'] ?? '')) {
      answer.discard()
      throw webPage(answer)
    }
    // With an encoding, neither length nor range describes the written bytes.
    this.#isEncoded = Boolean(headers['content-encoding'])
    if (this.#isEncoded) return
    const length = headers['content-length']
    this.#totalBytes = length === undefined ? null : Number(length)
    this.#version = headers
  }

  async #write(chunk: Buffer): Promise<void> {
    if (this.#writtenBytes + chunk.length > this.#maxBytes) throw new OversizeError(this.#maxBytes)
    for (let offset = 0; offset < chunk.length; ) {
      const at = this.#writtenBytes + offset
      const { bytesWritten } = await this.#file.write(chunk, offset, chunk.length - offset, at)
      offset += bytesWritten
    }
    this.#writtenBytes += chunk.length
  }

  async #requireLength(): Promise<void> {
    const [written, total] = [this.#writtenBytes, this.#totalBytes]
    if (total === null || written === total) return
    if (written > total) await this.restart()
    const detail = `${written} of ${total} bytes arrived`
    throw new HttpFault({ operation: 'download', reason: 'network', detail })
  }

  /** Refuses what a proxy sends in place of the file. Taken for an output, it would lead to another payment. */
  async #requireSound({ address }: StreamAnswer): Promise<void> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    if (bytesRead > 0 && !isText(buffer.subarray(0, bytesRead))) return
    await this.restart()
    throw badDownload(`${bytesRead === 0 ? 'an empty file' : 'text'} instead of the file, from ${address}`)
  }
}

function webPage({ address }: StreamAnswer): HttpFault {
  return badDownload(`a web page instead of the file, from ${address}`)
}

/**
 * Requests the rest of the same file if a part exists; `{}` requests the whole.
 *
 * @param validator see {@link validatorOf}. Without one, only the total length can be compared (Content-Range).
 */
function rangeHeaders(writtenBytes: number, validator: string | null): Record<string, string> {
  if (writtenBytes === 0) return {}
  const range = { range: `bytes=${writtenBytes}-` }
  return validator === null ? range : { ...range, 'if-range': validator }
}

/** Headers that tell a file from another one at its address. */
type Version = Pick<StreamAnswer['headers'], 'etag' | 'last-modified'>

/** The value that If-Range accepts (RFC 9110, 13.1.5). A weak entity tag does not count. */
function validatorOf({ etag, 'last-modified': lastModified }: Version): string | null {
  if (etag && !etag.startsWith('W/')) return etag
  return lastModified ?? null
}

/** Reads `bytes 5-9/10`; undefined for anything else, including an unknown total. */
function contentRange(header: string | undefined) {
  const match = /^bytes (\d+)-\d+\/(\d+)$/.exec(header ?? '')
  return match ? { startByte: Number(match[1]), totalBytes: Number(match[2]) } : undefined
}
