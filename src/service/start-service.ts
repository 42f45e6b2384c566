import { silentLogger } from '../core/logger.js'
import { openedOnce } from '../core/waiting.js'
import { DEFAULT_SERVICE_LIMITS } from '../precheck/index.js'
import { buildApp } from './app.js'
import { loadEngine, openEmbeddedEngine } from './engine/load-engine.js'
import { listenAt, withoutSlash } from './http/listen.js'
import { openNodeIdentity } from './identity/node-identity.js'
import { nodeKeys } from './identity/node-keys.js'
import type { RunningService, ServiceOptions } from './service-handle.js'
import { type ServiceSettings, serviceSettingsSchema } from './service-settings.js'
import { openNodeStorage } from './storage/node-storage.js'
import { type NodeStore, openNodeStore } from './store/open-node-store.js'
import { readIdentity } from './store/service-store.js'
import { WebhookSender } from './webhooks/webhook-sender.js'
import { FileLife } from './work/file-life.js'
import { fileService } from './work/file-service.js'
import { openNodeWork } from './work/node-work.js'
import { keepSweeping } from './work/retention.js'

/** Parts of a node to close, the latest first. */
type Closers = (() => Promise<unknown> | unknown)[]

/**
 * Starts a node of the service: API, identity provider, storage address and file processing.
 *
 * @throws {UsageError} `ERR_PORT_TAKEN`, `ERR_DATABASE_…`, `ERR_STORE_…`, `ERR_STORAGE_NOT_SHARED`
 * @throws {ZodError} for invalid settings
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { dataDir, logger = silentLogger } = options
  const settings = serviceSettingsSchema.parse(options.settings ?? {})
  const place = options.store === undefined ? { dataDir } : { store: options.store }
  const nodeStore = await openNodeStore(place, { logger })
  const closers: Closers = [() => nodeStore.close()]
  const close = async () => {
    nodeStore.hurry()
    for (const closePart of closers.splice(0).reverse()) await closePart()
  }
  try {
    return { ...(await startNode(options, settings, nodeStore, closers)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function startNode(
  options: ServiceOptions,
  settings: ServiceSettings,
  nodeStore: NodeStore,
  closers: Closers,
): Promise<Omit<RunningService, 'close'>> {
  const { host = '127.0.0.1', port = 0, allowPrivateUrls = false, logger = silentLogger } = options
  const limits = options.limits ?? DEFAULT_SERVICE_LIMITS
  const { store, workStore } = nodeStore
  const { authenticator, ...provider } = await openNodeIdentity(store, settings.identity)
  const { identity } = provider

  const engine = openedOnce(options.engine ?? (() => openEmbeddedEngine(limits, settings.engine)))
  closers.push(async () => (await engine.ifOpened())?.close?.())

  const { storage, storageUrl } = await openNodeStorage(options, {
    ...{ store, linkSecret: identity.linkSecret, links: settings.links, logger },
    ports: { host, port, storagePort: options.storagePort ?? (port === 0 ? 0 : port + 1) },
  })
  closers.push(() => storage.close())

  const life = new FileLife(workStore.files)
  const { queue, onDiskFault } = await openNodeWork(nodeStore, {
    ...{ limits, life, storage, settings, allowPrivateUrls, logger },
    engine: engine.opened,
    askedOnly: options.askedOnly ?? false,
  })
  closers.push(() => queue.stop())

  const { outbox, targets } = workStore
  const sender = new WebhookSender({ outbox, targets, settings: settings.webhooks, allowPrivateUrls, logger })
  closers.push(() => sender.stop())

  const address = { baseUrl: '' }
  const authUrl = () => `${address.baseUrl}/identity`
  const app = buildApp({
    service: fileService(store.files, new FileLife(store.files), storage, queue, settings.accounts),
    endpoints: { ...provider, authUrl },
    ...{ authenticator, limits, logger },
    askStore: () => readIdentity(store),
  })
  closers.push(() => app.close())
  const listening = await listenAt(app, host, port)
  address.baseUrl = withoutSlash(options.publicUrl ?? listening)

  const ownKeys = nodeKeys(provider.apiKeys, store.accounts, logger)
  closers.push(ownKeys.close)
  closers.push(keepSweeping({ store: workStore, storage, life, queue, settings, logger }))
  sender.start()
  if (!options.serveOnly) {
    if (!options.engine) await loadEngine()
    await queue.recover()
    queue.start()
  }
  const { tenantId, scope, serviceId } = identity
  return {
    ...{ baseUrl: address.baseUrl, authUrl: authUrl(), storageUrl, tenantId, scope, serviceId },
    createKey: ownKeys.create,
    onFileEnd: (listener) => life.onEnd(listener),
    onDiskFault,
  }
}
