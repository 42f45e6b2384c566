import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import pino from 'pino'
import { checkSchema, readJsonFile } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { docsPage } from '../../core/package-folder.js'
import { DEFAULT_SERVICE_LIMITS } from '../../precheck/index.js'
import {
  openPortal,
  type RunningService,
  type ServeFile,
  type StorePlace,
  serveFileSchema,
  startService,
} from '../../service/index.js'
import { onnxModelSchema } from '../../voice/onnx/onnx-model.js'
import { text, toggle } from '../arguments/option.js'
import { portNumber } from '../arguments/port-number.js'
import { defineCommand } from '../command.js'
import { untilStopped } from '../interruption.js'
import { nodeFolder, sharedStore } from '../service-place.js'

/** Name of the key that the first start creates. */
const FIRST_KEY = 'serve'

/** `voxmux serve` */
export const command = defineCommand({
  positionals: '',
  examples: [
    ['', 'serve this computer, on any free port'],
    ['--host 0.0.0.0 --port 8080 --data /srv/voxmux', 'serve a network; storage listens on the next port'],
    ['--store postgres://jobs.example --data /mnt/nas/voxmux', 'run one of several nodes on one store and one share'],
    ['--json', 'print the address and key as one JSON line'],
  ],
  build: (parser) =>
    parser
      .option('host', { ...text('Address to listen on'), default: '127.0.0.1' })
      .option('port', { ...text('Port; 0 picks a free one'), default: '0' })
      .option('data', text('Folder for the data of the service'))
      .option('store', text('Shared store for nodes on several machines (postgres://…)'))
      .option('settings', text('JSON file with limits, retention and other settings'))
      .option('engine', text('JSON description of an ONNX voice model to use'))
      .option('allow-private-urls', {
        type: 'boolean',
        default: false,
        describe: 'Allow URLs and webhooks on loopback and private networks',
      })
      .option('json', toggle('Print events as JSON lines on stdout')),
  run: async (args, { cwd, env, signal, output }) => {
    const store = sharedStore(args, env)
    const file = await withEngine(await readServeFile(args.settings, cwd), args.engine, cwd)
    const isShared = store !== undefined && file.azureContainer === undefined
    const dataDir = await nodeFolder(args, { isShared, around: { cwd, env } })
    const service = await startService({
      dataDir,
      store,
      host: args.host,
      port: portNumber(args.port),
      allowPrivateUrls: args['allow-private-urls'],
      logger,
      ...serviceOptions(file, env),
    })
    try {
      const key = await firstKey(store === undefined ? { dataDir } : { store })
      output.event({ event: 'listening', ...access(service), client_id: key.clientId, client_secret: key.clientSecret })
      output.print([startText(service, key, dataDir), ...reachNote(service.baseUrl, args.host)].join('\n'))
      return await untilStopped(signal)
    } finally {
      await service.close()
    }
  },
})

/** Warnings and errors go to stderr, because stdout is for events. */
const logger = pino({ level: 'warn' }, pino.destination(2))
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

function access({ baseUrl, authUrl, tenantId, scope }: RunningService) {
  return { base_url: baseUrl, auth_url: authUrl, tenant_id: tenantId, scope }
}

/** The newest valid key, or the first one of a new service. A new key's secret is shown only once. */
async function firstKey(place: StorePlace) {
  const portal = await openPortal(place)
  try {
    const user = await portal.accounts.ensure('local')
    return await portal.keys.ensure(user.id, FIRST_KEY)
  } finally {
    await portal.close()
  }
}

function startText(
  service: RunningService,
  { clientId, clientSecret }: Awaited<ReturnType<typeof firstKey>>,
  dataDir: string,
): string {
  const lines = [
    `export VOXMUX_BASE_URL=${service.baseUrl}`,
    `export VOXMUX_AUTH_URL=${service.authUrl}`,
    `export VOXMUX_TENANT_ID=${service.tenantId}`,
    `export VOXMUX_CLIENT_ID=${clientId}`,
    clientSecret
      ? `export VOXMUX_CLIENT_SECRET=${clientSecret}`
      : `export VOXMUX_CLIENT_SECRET=…   # shown once, when the key was created; for a new one: voxmux portal keys regenerate ${clientId} --data "${dataDir}"`,
    `export VOXMUX_SCOPE=${service.scope}`,
  ]
  return `The service listens on ${service.baseUrl} (data: ${dataDir}).
API reference: ${service.baseUrl}/api/v1/docs
A client needs:

${lines.join('\n')}
${clientSecret ? '\nThe secret is shown only once.\n' : ''}
Press Ctrl-C to stop. Unfinished work continues at the next start.`
}

async function readServeFile(path: string | undefined, cwd: string): Promise<ServeFile> {
  if (path === undefined) return serveFileSchema.parse({})
  const absolute = resolve(cwd, path)
  return checkSchema(serveFileSchema, await readJsonFile(absolute), absolute)
}

/** Checks the description at the start, so that a wrong one does not fail a client's first file. */
async function withEngine(file: ServeFile, engine: string | undefined, cwd: string): Promise<ServeFile> {
  if (engine === undefined) return file
  const model = resolve(cwd, engine)
  checkSchema(onnxModelSchema, await readJsonFile(model), model)
  return { ...file, engine: { kind: 'onnx', model, evidence: file.engine.evidence } }
}

function serviceOptions(file: ServeFile, env: NodeJS.ProcessEnv) {
  const { $schema: _, limits, publicUrl, publicStorageUrl, storagePort, azureContainer, ...settings } = file
  const connectionString = env.AZURE_STORAGE_CONNECTION_STRING
  if (azureContainer !== undefined && !connectionString)
    throw new UsageError('ERR_AZURE_ACCOUNT', 'AZURE_STORAGE_CONNECTION_STRING is not set.', {
      remedies: ['Set it to the connection string of the storage account.'],
    })
  return {
    settings,
    limits: { ...DEFAULT_SERVICE_LIMITS, ...limits },
    publicUrl,
    publicStorageUrl,
    storagePort,
    ...(azureContainer !== undefined && connectionString && { azure: { container: azureContainer, connectionString } }),
  }
}

/**
 * Says how other machines reach a service: clients accept plain http only from their own.
 *
 * @param baseUrl address for clients
 * @param host address that it listens on
 * @returns lines; none if there is nothing to say
 */
export function reachNote(baseUrl: string, host: string): readonly string[] {
  if (baseUrl.startsWith('https:') || LOOPBACK.has(host)) return []
  const { port } = new URL(baseUrl)
  const addresses = Object.values(networkInterfaces())
    .flat()
    .flatMap((net) => (net && !net.internal && net.family === 'IPv4' ? [`http://${net.address}:${port}`] : []))
  return [
    '',
    `Clients on other machines need https. Put a proxy with TLS in front of ${addresses.join(', ') || baseUrl},`,
    'and name its address as "publicUrl" and "publicStorageUrl" in the settings. How to do it:',
    docsPage('service.md'),
  ]
}
