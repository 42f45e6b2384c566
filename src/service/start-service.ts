import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import type { ErrorCode, VoxmuxError } from '../core/errors.js'
import { silentLogger } from '../core/logger.js'
import { DEFAULT_SERVICE_LIMITS, type Limits } from '../precheck/index.js'
import type { EngineSpec } from '../voice/engine-spec.js'
import { buildApp } from './app.js'
import { loadEngine } from './engine/load-engine.js'
import { listenAt, listenServer, storagePortTaken } from './http/listen.js'
import { AccessTokens } from './identity/access-tokens.js'
import { ApiKeys } from './identity/api-keys.js'
import { outsideAuthenticator, ownAuthenticator } from './identity/authenticator.js'
import { NodeKeys } from './identity/node-keys.js'
import { OutsideTokens } from './identity/outside-tokens.js'
import { SigningKeys } from './identity/signing-keys.js'
import type { RunningService, ServiceOptions } from './service-handle.js'
import { serviceSettingsSchema } from './service-settings.js'
import { azureStorage } from './storage/azure-storage.js'
import { localStorage } from './storage/local-storage.js'
import { requireSharedFolder } from './storage/shared-folder.js'
import { openNodeStore } from './store/open-node-store.js'
import { readIdentity } from './store/service-store.js'
import { WebhookSender } from './webhooks/webhook-sender.js'
import type { FileEngine } from './work/file-engine.js'
import { FileLife } from './work/file-life.js'
import { FileQueue } from './work/file-queue.js'
import { FileService } from './work/file-service.js'
import { keepSweeping } from './work/retention.js'
import { runFile } from './work/run-file.js'

/** Faults of this machine's disk. Files wait until a person repairs it. */
const DISK_FAULTS: ReadonlySet<string> = new Set<ErrorCode>(['ERR_DISK_FULL', 'ERR_DATABASE_IO'])

/**
 * Starts a node of the service: API, identity provider, storage address and file processing.
 *
 * @throws {UsageError} `ERR_PORT_TAKEN`, `ERR_DATABASE_…`, `ERR_STORE_…`, `ERR_STORAGE_NOT_SHARED`
 * @throws {ZodError} for invalid settings
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { dataDir, host = '127.0.0.1', port = 0, allowPrivateUrls = false, logger = silentLogger } = options
  const settings = serviceSettingsSchema.parse(options.settings ?? {})
  const limits = options.limits ?? DEFAULT_SERVICE_LIMITS
  const place = options.store === undefined ? { dataDir } : { store: options.store }
  const nodeStore = await openNodeStore(place, { logger })
  const { store, workStore } = nodeStore
  const closers: (() => Promise<unknown> | unknown)[] = [() => nodeStore.close()]
  const closeAll = async () => {
    nodeStore.hurry()
    for (const close of closers.splice(0).reverse()) await close()
  }

  try {
    const identity = await readIdentity(store)
    const { files, accounts } = store
    const workLife = new FileLife(workStore.files)
    const apiKeys = new ApiKeys(store.keys)
    const signingKeys = new SigningKeys(store.signingKeys, settings.identity.keyRotationSec * 1000)
    const tokens = new AccessTokens(identity, signingKeys)
    const { outside } = settings.identity
    const authenticator = outside
      ? outsideAuthenticator(new OutsideTokens(outside), accounts)
      : ownAuthenticator(tokens, apiKeys)

    const engine = options.engine ?? defaultEngine(limits, settings.engine)
    const engines = { made: undefined as ReturnType<typeof engine> | undefined }
    closers.push(async () => (await engines.made)?.close?.())

    const mayUpload = async (fileId: string) => (await files.byId(fileId))?.state === 'registered'
    const { links } = settings
    const { azure } = options
    if (options.store !== undefined && !azure) await requireSharedFolder(dataDir, store)
    const local = azure ? null : localStorage({ dataDir, linkSecret: identity.linkSecret, links, mayUpload, logger })
    const storage = azure ? await azureStorage({ ...azure, dataDir, links }) : local
    if (!storage) throw new Error('There is no storage.')
    closers.push(() => storage.close())
    const storagePort = options.storagePort ?? (port === 0 ? 0 : port + 1)
    const namingTaken = async (error: unknown): Promise<never> => {
      throw await storagePortTaken(error, { host, port, storagePort })
    }
    const storageAt = local ? await listenServer(local.server, host, storagePort).catch(namingTaken) : ''
    const storageUrl = local ? withoutSlash(options.publicStorageUrl ?? storageAt) : ''
    local?.publishAt(storageUrl)

    const diskListeners = new Set<(error: VoxmuxError) => void>()
    const onFault = (error: VoxmuxError) => {
      if (DISK_FAULTS.has(error.code)) for (const listener of diskListeners) listener(error)
    }
    const suspects = new PQueue({ concurrency: 1 })
    const queue = new FileQueue({
      store: await nodeStore.jobs(),
      files,
      concurrency: settings.work.concurrency ?? availableParallelism(),
      pollMs: settings.work.pollMs,
      leaseMs: settings.work.leaseMs,
      onFault,
      logger,
      run: (held) =>
        runFile(held, {
          files: workStore.files,
          accounts: workStore.accounts,
          limits,
          life: workLife,
          storage,
          suspects,
          settings,
          allowPrivateUrls,
          onFault,
          logger,
          engine: () => {
            engines.made ??= engine().catch((error) => {
              engines.made = undefined
              throw error
            })
            return engines.made
          },
        }),
    })
    closers.push(() => queue.stop())

    const trusted = new Set<string>()
    const sender = new WebhookSender({
      outbox: workStore.outbox,
      targets: workStore.targets,
      settings: settings.webhooks,
      allowPrivateUrls,
      ownReceivers: () => [...trusted],
      logger,
    })
    closers.push(() => sender.stop())

    const address = { baseUrl: '' }
    const authUrl = () => `${address.baseUrl}/identity`
    const app = buildApp({
      service: new FileService(files, new FileLife(files), storage, queue),
      authenticator,
      endpoints: { identity, apiKeys, signingKeys, tokens, authUrl },
      limits,
      logger,
      askStore: () => readIdentity(store),
    })
    closers.push(() => app.close())
    const listening = await listenAt(app, host, port)
    address.baseUrl = withoutSlash(options.publicUrl ?? listening)

    const nodeKeys = new NodeKeys(apiKeys, accounts, logger)
    closers.push(() => nodeKeys.close())
    closers.push(keepSweeping({ store: workStore, storage, life: workLife, queue, settings, logger }))
    sender.start()
    if (!options.serveOnly) {
      if (!options.engine) await loadEngine()
      await queue.recover()
      queue.start()
    }
    return {
      baseUrl: address.baseUrl,
      authUrl: authUrl(),
      storageUrl,
      tenantId: identity.tenantId,
      scope: identity.scope,
      serviceId: identity.serviceId,
      createKey: (name) => nodeKeys.create(name),
      trustReceiver: (origin) => void trusted.add(new URL(origin).origin),
      onFileEnd: (listener) => workLife.onEnd(listener),
      onDiskFault: (listener) => void diskListeners.add(listener),
      close: closeAll,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

function defaultEngine(limits: Limits, engine: EngineSpec): () => Promise<FileEngine> {
  return async () => {
    const { processFile, VoicePool } = await loadEngine()
    const pool = new VoicePool({ engine })
    return { processFile: (request) => processFile({ ...request, pool, limits }), close: () => pool.close() }
  }
}
