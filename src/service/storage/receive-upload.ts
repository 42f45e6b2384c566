import { createHash, getFips, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable, Transform } from 'node:stream'
import type { FileFolder } from './file-folder.js'
import { blobHeaders, StorageFault } from './storage-answers.js'

/** Largest block list: Azure allows 50 000 blocks, of about 100 bytes each. */
const MAX_BLOCK_LIST_BYTES = 8 * 1024 ** 2

/** Destination and limits of an upload. */
interface UploadTarget {
  readonly folder: FileFolder
  readonly fileId: string
  readonly maxBytes: number
  /** True if the input may be replaced; checked again after the last byte. */
  readonly mayUpload: (fileId: string) => Promise<boolean>
}

/**
 * Receives an upload as Azure Blob Storage does: Put Blob in one request, or Put Block and Put Block List. Streams all
 * bytes. An upload that breaks off, is too large or has the wrong MD5 leaves nothing.
 *
 * @throws {StorageFault}
 */
export async function receiveUpload(
  request: IncomingMessage,
  response: ServerResponse,
  address: URL,
  target: UploadTarget,
): Promise<void> {
  const { folder, fileId, maxBytes } = target
  const assertOpen = async () => {
    if (!(await target.mayUpload(fileId))) throw new StorageFault('BlobImmutableDueToPolicy')
  }
  await assertOpen()
  const sizeBytes = contentLength(request)
  const announcedMd5 = request.headers['content-md5']
  let md5: string | undefined
  const through = () => [
    whole(sizeBytes),
    // A computer in FIPS mode has no MD5.
    ...(announcedMd5 === undefined && getFips() !== 0 ? [] : [unaltered(announcedMd5, (found) => (md5 = found))]),
  ]

  const body = () => Readable.from(bytesOf(request, response), { objectMode: false })

  switch (address.searchParams.get('comp')) {
    case null:
      if (request.headers['x-ms-blob-type'] !== 'BlockBlob') throw new StorageFault('MissingRequiredHeader')
      if (sizeBytes > maxBytes) throw new StorageFault('RequestBodyTooLarge')
      await folder.writeInput(fileId, body(), through(), { assertOpen })
      break
    case 'block': {
      const id = address.searchParams.get('blockid')
      if (!id) throw new StorageFault('InvalidHeaderValue')
      await folder.blocks.keep(fileId, { id, sizeBytes }, body(), { maxBytes, through: through(), assertOpen })
      break
    }
    case 'blocklist': {
      const ids = await readBlockList(body(), sizeBytes)
      const bounds = { maxBytes, through: [], assertOpen, signal: untilGone(response) }
      await folder.blocks.join(fileId, ids, folder.inputPath(fileId), bounds)
      break
    }
    default:
      throw new StorageFault('UnsupportedHttpVerb')
  }

  response.writeHead(201, {
    ...blobHeaders(),
    etag: `"${randomUUID()}"`,
    'last-modified': new Date().toUTCString(),
    ...(md5 && { 'content-md5': md5 }),
    'x-ms-request-server-encrypted': 'false',
    'content-length': 0,
  })
  response.end()
}

/**
 * The bytes of a request. A client that waits for consent gets it with the first read, so a refused upload is not sent.
 * The request outlives a fault of the disk, so that the client can read the response.
 */
async function* bytesOf(request: IncomingMessage, response: ServerResponse): AsyncGenerator<Buffer> {
  // A client of HTTP/1.0 would take the consent for the response (RFC 9110, 10.1.1).
  if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue()
  yield* request.iterator({ destroyOnReturn: false })
}

function contentLength(request: IncomingMessage): number {
  const length = request.headers['content-length']
  if (length === undefined || request.headers['transfer-encoding']) throw new StorageFault('MissingContentLengthHeader')
  return Number(length)
}

/** Passes bytes through and fails at the end if their number is not the announced one. */
function whole(sizeBytes: number): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      done(null, chunk)
    },
    flush: (done) => done(seen === sizeBytes ? null : new StorageFault('IncompleteBody')),
  })
}

/** Computes the MD5 of the bytes. Fails at the end if the client sent another. */
function unaltered(announced: string | string[] | undefined, onMd5: (md5: string) => void): Transform {
  const hash = createHash('md5')
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
    flush: (done) => {
      const md5 = hash.digest('base64')
      onMd5(md5)
      done(announced === undefined || announced === md5 ? null : new StorageFault('Md5Mismatch'))
    },
  })
}

/** Aborts when the client disconnects before the response. */
function untilGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

/** An entry of a block list. */
const ENTRY = /<(Latest|Uncommitted|Committed)>\s*([A-Za-z0-9+/=_-]+)\s*<\/\1>/g
/** A block list without its entries, with single spaces. */
const EMPTY_LIST = /^ ?(<\?xml [^<>]*\?> ?)?<BlockList> ?<\/BlockList> ?$|^ ?(<\?xml [^<>]*\?> ?)?<BlockList ?\/> ?$/

/**
 * Reads the ids of `<Latest>`, `<Uncommitted>` and `<Committed>` in order. Refuses all other XML: an entry that is not
 * understood would be missing in the file.
 */
async function readBlockList(body: Readable, sizeBytes: number): Promise<string[]> {
  if (sizeBytes > MAX_BLOCK_LIST_BYTES) throw new StorageFault('RequestBodyTooLarge')
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  const xml = Buffer.concat(chunks).toString('utf8')
  // A byte order mark counts as a space.
  if (!EMPTY_LIST.test(xml.replace(ENTRY, ' ').replace(/\s+/g, ' '))) throw new StorageFault('InvalidXmlDocument')
  return [...xml.matchAll(ENTRY)].map(([, , id = '']) => id)
}
