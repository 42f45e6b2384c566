import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** The version of Azure's protocol that the local back end imitates. */
const PROTOCOL_VERSION = '2021-12-02'

/** Errors with Azure Blob Storage's names, so that its clients understand them. */
const FAULTS = {
  AuthenticationFailed: [403, 'The link is invalid or has expired. Request a new one.'],
  BlockCountExceedsLimit: [409, 'More than 50 000 blocks were uploaded without a block list.'],
  BlockListTooLong: [400, 'The block list names more than 50 000 blocks.'],
  BlobNotFound: [404, 'This file does not exist.'],
  BlobImmutableDueToPolicy: [409, 'Processing has started, so the file can no longer be replaced.'],
  InvalidBlockList: [400, 'The block list names a block that was not uploaded.'],
  InvalidHeaderValue: [400, 'A header has an invalid value.'],
  InvalidRange: [416, 'The range lies outside the file.'],
  InvalidXmlDocument: [400, 'The block list is not valid XML.'],
  Md5Mismatch: [400, 'The bytes do not have the MD5 of the request.'],
  MissingContentLengthHeader: [411, 'An upload needs a Content-Length.'],
  MissingRequiredHeader: [400, 'An upload needs the header x-ms-blob-type: BlockBlob.'],
  RequestBodyTooLarge: [413, 'The file is larger than this service accepts.'],
  UnsupportedHttpVerb: [405, 'The link does not allow this method.'],
  ServerBusy: [503, 'The service is not available at the moment.'],
  InternalError: [500, 'The file could not be stored.'],
  IncompleteBody: [400, 'The upload ended before its Content-Length.'],
} as const satisfies Record<string, readonly [number, string]>
export type StorageFaultCode = keyof typeof FAULTS

/** A refused upload or download. */
export class StorageFault extends Error {
  constructor(readonly code: StorageFaultCode) {
    super(FAULTS[code][1])
  }
}

/** The headers of every response of a blob store. */
export function blobHeaders(): Record<string, string> {
  return { 'x-ms-request-id': randomUUID(), 'x-ms-version': PROTOCOL_VERSION, 'cache-control': 'no-store' }
}

/** How long a refused upload is read: a client that sends everything first can then still read the response. */
const LINGER_MS = 30_000

/** Sends a fault. A HEAD gets no body. */
export function sendFault(request: IncomingMessage, response: ServerResponse, code: StorageFaultCode): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const [status, message] = FAULTS[code]
  const isHead = request.method === 'HEAD'
  const body = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  response.writeHead(status, {
    ...blobHeaders(),
    'x-ms-error-code': code,
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(body),
    ...(code === 'ServerBusy' && { 'retry-after': '5' }),
    // The rest of a refused upload is not worth reading to its end.
    ...(!isHead && { connection: 'close' }),
  })
  if (isHead || request.complete || request.destroyed) response.end(isHead ? undefined : body)
  else closeLater(request, response, body)
}

/** Sends the response, and closes after the upload or a time limit. Closing at once would reset the upload. */
function closeLater(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.write(body)
  const close = () => {
    clearTimeout(patience)
    response.end()
  }
  const patience = setTimeout(close, LINGER_MS)
  request.once('end', close).once('close', close).once('error', close).resume()
}
