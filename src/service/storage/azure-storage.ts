import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { BlockBlobClient } from '@azure/storage-blob'
import { makeFolder } from '../../core/make-folder.js'
import { packageMissing } from '../../core/optional-package.js'
import type { ServiceSettings } from '../service-settings.js'
import { contentDisposition, type FileStorage, mediaTypeOf, type SignedLink } from './file-storage.js'

export interface AzureStorageOptions {
  /** Contains an account key, which signs the links. Secret: from the environment or a file, never a flag. */
  readonly connectionString: string
  /** Created if it does not exist. */
  readonly container: string
}

/** Stores files in Azure Blob Storage with SAS links. Bytes pass through the service only for processing. */
export async function azureStorage(
  options: AzureStorageOptions & { readonly dataDir: string; readonly links: ServiceSettings['links'] },
): Promise<FileStorage> {
  const azure = await loadAzure()
  const client = azure.BlobServiceClient.fromConnectionString(options.connectionString)
  const container = client.getContainerClient(options.container)
  await container.createIfNotExists()
  const input = (fileId: string) => container.getBlockBlobClient(`inputs/${fileId}`)
  const output = (fileId: string, extension: string) => container.getBlockBlobClient(`outputs/${fileId}.${extension}`)
  const { uploadLifetimeSec, downloadLifetimeSec } = options.links

  return {
    uploadLink: (fileId) =>
      signed(uploadLifetimeSec, (expiresOn) =>
        input(fileId).generateSasUrl({ expiresOn, permissions: azure.BlobSASPermissions.parse('cw') }),
      ),
    downloadLink: (fileId, extension, name) =>
      signed(downloadLifetimeSec, (expiresOn) =>
        output(fileId, extension).generateSasUrl({
          expiresOn,
          permissions: azure.BlobSASPermissions.parse('r'),
          contentDisposition: contentDisposition(name, extension),
          contentType: mediaTypeOf(extension),
        }),
      ),
    async inputSize(fileId) {
      const properties = await input(fileId).getProperties().catch(unlessStatus(404))
      return properties?.contentLength
    },
    async sealInput(fileId) {
      // A link cannot be revoked, but a blob with an infinite lease can only be written with that lease. The lease id
      // is the file's id, so that sealing twice is harmless.
      await input(fileId).getBlobLeaseClient(fileId).acquireLease(-1)
    },
    async putInput(fileId, source: Readable, signal) {
      await input(fileId).uploadStream(source, 4 * 1024 ** 2, 4, { abortSignal: signal })
    },
    workFolder: async (fileId) => makeWorkFolder(options.dataDir, fileId),
    async takeInput(fileId, workFolder, signal) {
      const path = join(workFolder, 'input')
      await download(input(fileId), path, signal)
      return path
    },
    leaveWorkFolder: (folder) => rm(folder, { recursive: true, force: true }),
    async putOutput(fileId, extension, path, signal) {
      const blobHTTPHeaders = { blobContentType: mediaTypeOf(extension) }
      await output(fileId, extension).uploadFile(path, { abortSignal: signal, blobHTTPHeaders })
      await rm(path, { force: true })
    },
    async deleteInput(fileId) {
      // A missing lease or blob is as good as a broken lease.
      await input(fileId).getBlobLeaseClient(fileId).breakLease(0).catch(unlessStatus(404, 409))
      await input(fileId).deleteIfExists()
    },
    deleteOutput: async (fileId, extension) => void (await output(fileId, extension).deleteIfExists()),
    // Azure deletes uncommitted blocks after a week; work folders are removed with their file.
    sweep: async () => {},
    close: async () => {},
  }
}

async function download(blob: BlockBlobClient, path: string, signal: AbortSignal): Promise<void> {
  const { readableStreamBody } = await blob.download(0, undefined, { abortSignal: signal, maxRetryRequests: 5 })
  if (!readableStreamBody) throw new Error('The blob store sent no bytes.')
  await pipeline(readableStreamBody, createWriteStream(path, { mode: 0o600 }), { signal })
}

function makeWorkFolder(dataDir: string, fileId: string): string {
  const folder = join(dataDir, 'work', `${fileId}-${randomUUID()}`)
  makeFolder(folder, 0o700)
  return folder
}

async function signed(lifetimeSec: number, url: (expiresOn: Date) => Promise<string>): Promise<SignedLink> {
  const expirySec = Math.floor(Date.now() / 1000 + lifetimeSec)
  return { url: await url(new Date(expirySec * 1000)), expirySec }
}

/** Returns undefined for an error with one of these statuses; rethrows all others. */
function unlessStatus(...statuses: readonly number[]) {
  return (error: unknown): undefined => {
    const status = (error as { statusCode?: number }).statusCode
    if (status === undefined || !statuses.includes(status)) throw error
    return undefined
  }
}

async function loadAzure() {
  return import('@azure/storage-blob').catch(
    packageMissing('ERR_AZURE_MISSING', 'Azure Blob Storage needs', '@azure/storage-blob'),
  )
}
