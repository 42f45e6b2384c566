import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { TransientError, toVoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import type { ServiceSettings } from '../service-settings.js'
import { FileFolder } from './file-folder.js'
import type { FileStorage } from './file-storage.js'
import { type LinkGrant, linkSigner } from './link-signer.js'
import { receiveUpload } from './receive-upload.js'
import { sendDownload } from './send-download.js'
import { StorageFault, type StorageFaultCode, sendFault } from './storage-answers.js'

export interface LocalStorageOptions {
  readonly dataDir: string
  readonly linkSecret: string
  readonly links: ServiceSettings['links']
  /** True if the input of a file may be replaced. */
  readonly mayUpload: (fileId: string) => Promise<boolean>
  readonly logger: Logger
}

interface LinkContext extends LocalStorageOptions {
  readonly folder: FileFolder
  readonly signer: ReturnType<typeof linkSigner>
}

/** A folder and the server of its signed links, at an address apart from the API. */
export interface LocalStorage extends FileStorage {
  readonly server: Server
  /** Sets the base address of the links. Call it once the server listens. */
  publishAt(baseUrl: string): void
}

/** Opens the default back end. Every node of a data folder serves the links of all nodes. */
export function localStorage(options: LocalStorageOptions): LocalStorage {
  const { links } = options
  const folder = new FileFolder(join(options.dataDir, 'files'))
  const signer = linkSigner(options.linkSecret)
  let address = ''
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    serveLink(request, response, { ...options, folder, signer }).catch((error: unknown) => {
      options.logger.error({ err: error }, 'A storage request failed.')
      response.destroy()
    })
  }
  // A client that waits for consent to its upload gets it when nothing speaks against the upload.
  const server = createServer(serve).on('checkContinue', serve)
  // An upload may take hours, so only a pause is limited.
  server.requestTimeout = 0
  server.setTimeout(links.idleTimeoutMs, (socket) => socket.destroy())

  const link = (grant: LinkGrant, lifetimeSec: number) => {
    const expirySec = Math.floor(Date.now() / 1000 + lifetimeSec)
    return { url: `${address}${signer.sign(grant, expirySec)}`, expirySec }
  }
  return {
    server,
    publishAt(baseUrl) {
      address = baseUrl
    },
    uploadLink: async (fileId) => link({ kind: 'upload', fileId }, links.uploadLifetimeSec),
    downloadLink: async (fileId, extension, name) =>
      link({ kind: 'download', fileId, extension, name }, links.downloadLifetimeSec),
    inputSize: (fileId) => folder.inputSize(fileId),
    // The server checks `mayUpload`, which is false after a start.
    sealInput: async () => {},
    putInput: (fileId, source, signal) => folder.writeInput(fileId, source, [], { signal }),
    workFolder: (fileId) => folder.workFolder(fileId),
    takeInput: async (fileId) => folder.inputPath(fileId),
    leaveWorkFolder: (path) => rm(path, { recursive: true, force: true }),
    putOutput: (fileId, extension, path) => folder.adoptOutput(fileId, extension, path),
    deleteInput: (fileId) => folder.deleteInput(fileId),
    deleteOutput: (fileId, extension) => folder.deleteOutput(fileId, extension),
    sweep: (known) => folder.sweep(known),
    close: () => closeServer(server),
  }
}

async function serveLink(request: IncomingMessage, response: ServerResponse, context: LinkContext): Promise<void> {
  try {
    await answerLink(request, response, context)
  } catch (error) {
    const code = faultOf(error, request)
    if (code === 'InternalError') context.logger.error({ err: error }, 'A storage request failed.')
    if (code === 'ServerBusy')
      context.logger.warn({ code: toVoxmuxError(error).code }, 'A storage request gets a 503. The client may retry.')
    sendFault(request, response, code)
  }
}

async function answerLink(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, signer, mayUpload, links }: LinkContext,
): Promise<void> {
  const target = `http://storage${request.url ?? '/'}`
  if (!URL.canParse(target)) throw new StorageFault('BlobNotFound')
  const address = new URL(target)
  const grant = signer.read(address)
  if (grant === 'unknown') throw new StorageFault('BlobNotFound')
  if (grant === 'forged' || grant === 'expired') throw new StorageFault('AuthenticationFailed')
  switch (grant.kind) {
    case 'upload':
      if (request.method !== 'PUT') throw new StorageFault('UnsupportedHttpVerb')
      return receiveUpload(request, response, address, { ...grant, folder, maxBytes: links.maxUploadBytes, mayUpload })
    case 'download':
      if (request.method !== 'GET' && request.method !== 'HEAD') throw new StorageFault('UnsupportedHttpVerb')
      return sendDownload(request, response, { ...grant, path: folder.outputPath(grant.fileId, grant.extension) })
    default:
      return grant satisfies never
  }
}

/** A connection that the client closed is not a fault of the service. */
function faultOf(error: unknown, request: IncomingMessage): StorageFaultCode {
  if (error instanceof StorageFault) return error.code
  // The store is not reachable, so the permission to upload cannot be checked now. Or the disk is full.
  if (toVoxmuxError(error) instanceof TransientError) return 'ServerBusy'
  return request.destroyed || request.errored ? 'IncompleteBody' : 'InternalError'
}

/** Closes the server; open requests get one second to end. */
async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const patience = setTimeout(() => server.closeAllConnections(), 1000)
  await closed
  clearTimeout(patience)
}
