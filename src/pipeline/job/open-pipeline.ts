import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { joinAddress, VoxmuxClient, type VoxmuxClientOptions } from '../../client/index.js'
import { checkSchema } from '../../config/check-schema.js'
import {
  type Config,
  ensureStateFolder,
  type RemoteTarget,
  requireService,
  type ServiceAccess,
  useConfiguredBinaries,
} from '../../config/index.js'
import { readJsonFile } from '../../config/read-json-file.js'
import { UsageError, type VoxmuxError } from '../../core/errors.js'
import { fileSha256, valueSha256 } from '../../core/file-identity.js'
import { type Logger, silentLogger } from '../../core/logger.js'
import { openedOnce } from '../../core/waiting.js'
import { openCredentials } from '../../credentials/index.js'
import { type FileNews, PathRoots, VoiceCache } from '../../ledger/index.js'
import { onnxModelSchema } from '../../voice/index.js'
import type { PipelineContext } from '../context.js'
import { openStageSlots } from '../stage-slots.js'
import { settleSpending } from '../voice/settle-spending.js'
import { openWebhookIntake, type WebhookIntake } from '../voice/webhook-intake.js'
import { openStore } from './open-store.js'
import { stateIdentity } from './state-identity.js'

/** A service in this process, as the composition root starts it. */
interface EmbeddedServiceHandle {
  /** Address and a short-lived key of the local user. */
  readonly access: ServiceAccess
  /** Calls the listener for every file that ends in this process, sooner than the client's next poll. */
  onFileEnd(listener: (fileId: string) => void): void
  /** Calls the listener when the service cannot go on because its disk is full or fails. */
  onDiskFault(listener: (error: VoxmuxError) => void): void
  close(): Promise<void>
}

export interface OpenPipelineOptions {
  /** Starts the embedded service over a folder; the pipeline itself never imports it. */
  readonly startEmbedded: (dataDir: string) => Promise<EmbeddedServiceHandle>
  /** Limits and patience of the client, and the meter of its traffic. Defaults to the client's own. */
  readonly client?: Pick<VoxmuxClientOptions, 'polling' | 'retry' | 'timeouts' | 'meter'>
  readonly logger?: Logger
}

/** The environment of jobs: opened once, shared by any number of them. */
export interface Pipeline {
  readonly context: PipelineContext
  close(): Promise<void>
}

/** Number of voices of one job that are at the service at once: enough for a two-hour film in 16 parts. */
const VOICE_CONCURRENCY = 16

/**
 * Opens ledger and cache in the state folder, and the service on first use.
 *
 * @throws {UsageError} for incomplete service settings, unusable credentials or an unusable state folder
 */
export async function openPipeline(config: Config, options: OpenPipelineOptions): Promise<Pipeline> {
  const { logger = silentLogger } = options
  useConfiguredBinaries(config)
  const target = requireService(config)
  const credentials = config.credentials && openCredentials(config.credentials)
  await credentials?.require()
  const stateDir = await ensureStateFolder(config.stateDir)
  const engine = target.kind === 'embedded' && config.engine !== null ? await engineIdentity(config.engine) : null
  const serviceIdentity = await identityOf(target, stateDir, engine)
  // Opened last, because a fault of the others would leave it open.
  const ledger = await openStore(config, logger)
  const cache = new VoiceCache(config.cacheDir ?? join(stateDir, 'cache'), { maxBytes: config.cacheMaxBytes })
  // Nodes of one folder share their work, so each voice model has a folder of its own.
  const dataDir = join(stateDir, engine === null ? 'service' : `service-${engine.slice(0, 16)}`)
  const service = lazyService(target, dataDir, options, { ...config, news: ledger.news })
  const roots = new PathRoots(config.paths)
  const stop = new AbortController()
  let settling: Promise<void> | undefined
  const context: PipelineContext = {
    client: async () => {
      const { client } = await service.opened()
      settling ??= settleSpending(client, { ...ledger, serviceIdentity, logger }, stop.signal)
      return client
    },
    webhooks: async () => (await service.opened()).intake?.start ?? null,
    serviceIdentity,
    isEmbedded: target.kind === 'embedded',
    serviceAddress: target.kind === 'embedded' ? 'embedded' : new URL(target.baseUrl).origin,
    voices: ledger.voices,
    spending: ledger.spending,
    learned: ledger.limits,
    jobs: ledger.jobs,
    sharedPath: config.store === null ? undefined : (path) => roots.toStore(path),
    cache,
    limits: config.limits,
    maxSecondsPerDay: config.maxSecondsPerDay,
    stateDir,
    voiceConcurrency: VOICE_CONCURRENCY,
    slots: openStageSlots(config.stages),
    credentials: credentials ?? undefined,
    logger,
  }
  return {
    context,
    close: async () => {
      stop.abort()
      await settling
      await service.close().finally(() => ledger.close())
    },
  }
}

async function identityOf(
  target: ReturnType<typeof requireService>,
  stateDir: string,
  engine: string | null,
): Promise<string> {
  const own = engine === null ? '' : `:${engine}`
  if (target.kind === 'embedded') return `embedded:${await stateIdentity(stateDir)}${own}`
  const { tenantId, clientId } = target
  // The same for a final slash, a default port and a host in capitals.
  const baseUrl = joinAddress(new URL(target.baseUrl), '')
  return `remote:${valueSha256({ baseUrl, tenantId, clientId })}`
}

interface OpenedService {
  readonly client: VoxmuxClient
  readonly intake: WebhookIntake | null
  readonly embedded: EmbeddedServiceHandle | null
}

/** The client of the configured service, or of an embedded service that starts on first use. */
function lazyService(
  target: ReturnType<typeof requireService>,
  dataDir: string,
  { startEmbedded, client: clientOptions, logger = silentLogger }: OpenPipelineOptions,
  {
    blockTypeHeader,
    webhook,
    news,
  }: Pick<Config, 'blockTypeHeader' | 'webhook'> & { readonly news: FileNews | undefined },
) {
  const clientOf = (access: ServiceAccess, polling = clientOptions?.polling) =>
    new VoxmuxClient({ ...access, ...clientOptions, polling, blockTypeHeader, logger })

  const openEmbedded = async (): Promise<OpenedService> => {
    const embedded = await startEmbedded(dataDir)
    // It forgets no file, and a file of it stays at one status while this computer sleeps.
    const client = clientOf(embedded.access, { ...clientOptions?.polling, unchangedMs: Number.MAX_SAFE_INTEGER })
    // Within one process, this call replaces a webhook. The webhooks of the local account stay as the user set them.
    embedded.onFileEnd((fileId) => client.askNow(fileId))
    // The status of a file would stay "in progress" until there is space again.
    embedded.onDiskFault((error) => client.failWaits(error))
    return { client, intake: null, embedded }
  }

  const openRemote = async ({ kind: _, ...access }: RemoteTarget): Promise<OpenedService> => {
    const client = clientOf(access)
    try {
      const intake = webhook && (await openWebhookIntake({ settings: webhook, access, client, logger, news }))
      return { client, intake, embedded: null }
    } catch (error) {
      client.close()
      throw error
    }
  }

  const { opened, ifOpened } = openedOnce(() => (target.kind === 'embedded' ? openEmbedded() : openRemote(target)))
  return {
    opened,
    close: async () => {
      const service = await ifOpened().catch(() => undefined)
      service?.client.close()
      await service?.intake?.close()
      await service?.embedded?.close()
    },
  }
}

/**
 * Identifies a voice model of the user's own by its description and its files. Another model under the same path has
 * another identity, so its voices are not taken from the cache.
 *
 * @param path of the JSON description
 * @throws {UsageError} `ERR_ONNX_MODEL` if a file of the model is missing; those of reading and checking the description
 */
async function engineIdentity(path: string): Promise<string> {
  const model = checkSchema(onnxModelSchema, await readJsonFile(path), path)
  const files = model.stages.map(({ file }) => resolve(dirname(path), file))
  return valueSha256({ model, files: await Promise.all(files.map((file) => hashOf(file, path))) })
}

async function hashOf(file: string, path: string): Promise<string> {
  if (await stat(file).catch(() => undefined)) return fileSha256(file)
  throw new UsageError('ERR_ONNX_MODEL', `${path} names the voice model ${file}, which does not exist.`, {
    input: path,
    remedies: ['Correct "file" in the description. It is relative to the description.'],
  })
}
