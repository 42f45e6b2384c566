import { listenServer, type ServicePorts, storagePortTaken, withoutSlash } from '../http/listen.js'
import type { ServiceOptions } from '../service-handle.js'
import type { ServiceStore } from '../store/service-store.js'
import { azureStorage } from './azure-storage.js'
import { type LocalStorage, type LocalStorageOptions, localStorage } from './local-storage.js'
import { requireSharedFolder } from './shared-folder.js'

/** The parts of the node that its storage needs. */
interface NodeStorageParts extends Omit<LocalStorageOptions, 'dataDir' | 'mayUpload'> {
  readonly store: ServiceStore
  readonly ports: ServicePorts
}

/**
 * Opens the storage of a node, and makes its own one listen.
 *
 * @returns the storage and the address of its links, which is empty for Azure
 * @throws {UsageError} `ERR_PORT_TAKEN`, `ERR_STORAGE_NOT_SHARED`, `ERR_AZURE_MISSING`
 */
export async function openNodeStorage(options: ServiceOptions, parts: NodeStorageParts) {
  const { dataDir, azure } = options
  const { store, ports, ...rest } = parts
  if (azure) return { storage: await azureStorage({ ...azure, dataDir, links: rest.links }), storageUrl: '' }
  if (options.store !== undefined) await requireSharedFolder(dataDir, store)
  const mayUpload = async (fileId: string) => (await store.files.byId(fileId))?.state === 'registered'
  const storage = localStorage({ ...rest, dataDir, mayUpload })
  const listening = await listen(storage, ports)
  const storageUrl = withoutSlash(options.publicStorageUrl ?? listening)
  storage.publishAt(storageUrl)
  return { storage, storageUrl }
}

async function listen({ server }: LocalStorage, ports: ServicePorts): Promise<string> {
  try {
    return await listenServer(server, ports.host, ports.storagePort)
  } catch (error) {
    throw await storagePortTaken(error, ports)
  }
}
