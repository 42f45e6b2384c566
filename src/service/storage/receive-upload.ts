import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transform } from 'node:stream'
import type { FileFolder } from './file-folder.js'
import { blobHeaders, StorageFault } from './storage-answers.js'

/** Largest block list: 50 000 blocks, Azure's own bound, at some 100 bytes each. */
const MAX_BLOCK_LIST_BYTES = 8 * 1024 ** 2

/** Where an upload goes and what it may be. */
export interface UploadTarget {
  readonly folder: FileFolder
  readonly fileId: string
  readonly maxBytes: number
  /** Whether the input may still be replaced; asked again when the last byte is there. */
  readonly mayUpload: (fileId: string) => Promise<boolean>
}

/**
 * Receives an upload as Azure Blob Storage does: Put Blob in one request, or Put Block and Put Block List.
 * Everything is streamed; what breaks off, is too large or has the wrong MD5 leaves nothing.
 *
 * @throws StorageFault
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
  if (sizeBytes > maxBytes) throw new StorageFault('RequestBodyTooLarge')
  const checked = () => [guard(request, sizeBytes, assertOpen)]

  switch (address.searchParams.get('comp')) {
    case null:
      if (request.headers['x-ms-blob-type'] !== 'BlockBlob') throw new StorageFault('MissingRequiredHeader')
      await folder.writeInput(fileId, request, checked())
      break
    case 'block': {
      const blockId = address.searchParams.get('blockid')
      if (!blockId) throw new StorageFault('InvalidHeaderValue')
      await folder.writeBlock(fileId, blockId, request, checked())
      break
    }
    case 'blocklist': {
      const blockIds = await readBlockList(request, sizeBytes)
      const sizes = await folder.blockSizes(fileId, blockIds)
      if (!sizes) throw new StorageFault('InvalidBlockList')
      if (sizes.reduce((sum, size) => sum + size, 0) > maxBytes) throw new StorageFault('RequestBodyTooLarge')
      await assertOpen()
      await folder.joinBlocks(fileId, blockIds)
      break
    }
    default:
      throw new StorageFault('UnsupportedHttpVerb')
  }

  response.writeHead(201, {
    ...blobHeaders(),
    etag: `"${randomUUID()}"`,
    'last-modified': new Date().toUTCString(),
    'x-ms-request-server-encrypted': 'false',
    'content-length': 0,
  })
  response.end()
}

function contentLength(request: IncomingMessage): number {
  const length = request.headers['content-length']
  if (length === undefined || request.headers['transfer-encoding']) throw new StorageFault('MissingContentLengthHeader')
  return Number(length)
}

/** Lets bytes through and fails, at their end, if they are not what was announced. */
function guard(request: IncomingMessage, sizeBytes: number, assertOpen: () => Promise<void>): Transform {
  const md5 = createHash('md5')
  const announced = request.headers['content-md5']
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (announced !== undefined) md5.update(chunk)
      done(null, chunk)
    },
    flush(done) {
      const right = announced === undefined || md5.digest('base64') === announced
      if (seen !== sizeBytes) done(new StorageFault('IncompleteBody'))
      else if (!right) done(new StorageFault('Md5Mismatch'))
      else assertOpen().then(() => done(), done)
    },
  })
}

/** Ids of `<Latest>`, `<Uncommitted>` and `<Committed>` in their order; the rest of the XML says nothing we need. */
async function readBlockList(request: IncomingMessage, sizeBytes: number): Promise<string[]> {
  if (sizeBytes > MAX_BLOCK_LIST_BYTES) throw new StorageFault('RequestBodyTooLarge')
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const xml = Buffer.concat(chunks).toString('utf8')
  if (!/<BlockList\b/.test(xml)) throw new StorageFault('InvalidXmlDocument')
  return [...xml.matchAll(/<(Latest|Uncommitted|Committed)>\s*([A-Za-z0-9+/=_-]+)\s*<\/\1>/g)].map(
    ([, , id = '']) => id,
  )
}
