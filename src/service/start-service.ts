import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { silentLogger } from '../core/logger.js'
import { openLedger } from '../jobs/index.js'
import { DEFAULT_SERVICE_LIMITS } from '../precheck/index.js'
import { buildApp } from './app.js'
import { listenAt, listenServer } from './http/listen.js'
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
import { Accounts } from './store/accounts.js'
import { Files } from './store/files.js'
import { openServiceDatabase } from './store/service-database.js'
import { DeliveryLog } from './webhooks/delivery-log.js'
import { Outbox } from './webhooks/outbox.js'
import { WebhookSender } from './webhooks/webhook-sender.js'
import { WebhookTargets } from './webhooks/webhook-target.js'
import { defaultEngine } from './work/default-engine.js'
import { FileLife } from './work/file-life.js'
import { FileQueue } from './work/file-queue.js'
import { FileService } from './work/file-service.js'
import { workOnFile } from './work/process-file.js'
import { keepSweeping } from './work/retention.js'

/**
 * Starts a node of the service: API, identity provider and storage address, and the work behind them.
 *
 * @throws UsageError `ERR_PORT_TAKEN`, `ERR_DATABASE_…`; what the settings' schema says of wrong settings
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { dataDir, host = '127.0.0.1', port = 0, allowPrivateUrls = false, logger = silentLogger } = options
  const settings = serviceSettingsSchema.parse(options.settings ?? {})
  const limits = options.limits ?? DEFAULT_SERVICE_LIMITS
  const { database, identity } = openServiceDatabase(dataDir)
  const closers: (() => Promise<unknown> | unknown)[] = [() => database.close()]
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close()
  }

  try {
    const files = new Files(database)
    const outbox = new Outbox(database)
    const life = new FileLife(database, files, outbox)
    const log = new DeliveryLog(database)
    const apiKeys = new ApiKeys(database)
    const accounts = new Accounts(database)
    const signingKeys = new SigningKeys(database, settings.identity.keyRotationSec * 1000)
    const tokens = new AccessTokens(identity, signingKeys)
    const { outside } = settings.identity
    const authenticator = outside
      ? outsideAuthenticator(new OutsideTokens(outside), accounts)
      : ownAuthenticator(tokens, apiKeys)

    const engine = options.engine ?? defaultEngine(limits, settings.engine)
    const engines = { made: undefined as ReturnType<typeof engine> | undefined }
    closers.push(async () => (await engines.made)?.close?.())

    const mayUpload = (fileId: string) => files.byId(fileId)?.state === 'registered'
    const { links } = settings
    const { azure } = options
    const local = azure ? null : localStorage({ dataDir, linkSecret: identity.linkSecret, links, mayUpload, logger })
    const storage = azure ? await azureStorage({ ...azure, dataDir, links }) : local
    if (!storage) throw new Error('There is no storage.')
    closers.push(() => storage.close())
    const storagePort = options.storagePort ?? (port === 0 ? 0 : port + 1)
    const storageUrl = local ? (options.publicStorageUrl ?? (await listenServer(local.server, host, storagePort))) : ''
    local?.publishAt(storageUrl)

    const suspects = new PQueue({ concurrency: 1 })
    const queue = new FileQueue({
      store: (await openLedger(join(dataDir, 'jobs.db'))).jobs,
      files,
      concurrency: settings.work.concurrency ?? availableParallelism(),
      pollMs: settings.work.pollMs,
      leaseMs: settings.work.leaseMs,
      logger,
      work: (held) =>
        workOnFile(held, {
          files,
          life,
          storage,
          suspects,
          settings,
          allowPrivateUrls,
          logger,
          engine: () => {
            engines.made ??= engine()
            return engines.made
          },
        }),
    })
    closers.push(() => queue.stop())

    const trusted = new Set<string>()
    const sender = new WebhookSender({
      outbox,
      targets: new WebhookTargets(database),
      log,
      settings: settings.webhooks,
      allowPrivateUrls,
      ownReceivers: () => [...trusted],
      logger,
    })
    closers.push(() => sender.stop())

    const address = { baseUrl: '' }
    const authUrl = () => `${address.baseUrl}/identity`
    const app = buildApp({
      service: new FileService(files, life, storage, queue),
      authenticator,
      endpoints: { identity, apiKeys, signingKeys, tokens, authUrl },
      limits,
      logger,
    })
    closers.push(() => app.close())
    const listening = await listenAt(app, host, port)
    address.baseUrl = options.publicUrl ?? listening

    const nodeKeys = new NodeKeys(apiKeys, accounts)
    closers.push(() => nodeKeys.close())
    closers.push(keepSweeping({ database, storage, life, log, settings, logger }))
    sender.start()
    if (!options.serveOnly) {
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
      createKey: async (name) => nodeKeys.create(name),
      trustReceiver: (origin) => void trusted.add(new URL(origin).origin),
      onFileEnd: (listener) => life.onEnd(listener),
      close: closeAll,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
