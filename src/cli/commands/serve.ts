import { resolve } from 'node:path'
import pino from 'pino'
import { checkSchema, readJsonFile } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { DEFAULT_SERVICE_LIMITS } from '../../precheck/index.js'
import {
  openPortal,
  type RunningService,
  type ServeFile,
  type StorePlace,
  serveFileSchema,
  startService,
} from '../../service/index.js'
import { onnxModelSchema } from '../../voice/onnx-model.js'
import { defineCommand } from '../command.js'
import { interrupted } from '../interruption.js'
import { portNumber } from '../port-number.js'
import { nodeFolder, sharedStore } from '../service-place.js'

/** Name of the key that a first start makes. */
const FIRST_KEY = 'serve'

/** `voxmux serve` */
export const command = defineCommand({
  positionals: '',
  examples: [
    ['', 'serve on loopback, on any free port'],
    ['--host 0.0.0.0 --port 8080 --data /srv/voxmux', 'serve a network; storage is at the next port'],
    ['--store redis://jobs.example --data /mnt/nas/voxmux', 'one of several nodes over one store and one share'],
    ['--json', 'say address and key as one JSON line, for a script'],
  ],
  build: (parser) =>
    parser
      .option('host', { type: 'string', default: '127.0.0.1', describe: 'Address to listen at' })
      .option('port', { type: 'string', default: '0', describe: 'Port; 0 takes any' })
      .option('data', { type: 'string', describe: 'Folder of all that the service keeps' })
      .option('store', {
        type: 'string',
        requiresArg: true,
        describe: 'Store that nodes on several machines share (redis://…)',
      })
      .option('settings', { type: 'string', describe: 'JSON file with limits, retention and the rest' })
      .option('engine', { type: 'string', describe: 'JSON description of an ONNX voice model to work with' })
      .option('allow-private-urls', {
        type: 'boolean',
        default: false,
        describe: 'Let URLs and webhooks reach loopback and private networks',
      })
      .option('json', { type: 'boolean', describe: 'Events on stdout' }),
  run: async (args, { cwd, env, signal, output }) => {
    const store = sharedStore(args, env)
    const file = await withEngine(await readServeFile(args.settings, cwd), args.engine, cwd)
    const isShared = store !== undefined && file.azureContainer === undefined
    const dataDir = await nodeFolder(args, { isShared, around: { cwd, env } })
    const service = await startService({
      dataDir,
      ...(store !== undefined && { store }),
      host: args.host,
      port: portNumber(args.port),
      allowPrivateUrls: args['allow-private-urls'],
      logger,
      ...serviceOptions(file, env),
    })
    try {
      const key = await firstKey(store === undefined ? { dataDir } : { store })
      output.event({ event: 'listening', ...access(service), client_id: key.clientId, client_secret: key.clientSecret })
      output.print(welcome(service, key, dataDir))
      await interrupted(signal)
      return 0
    } finally {
      await service.close()
    }
  },
})

function access({ baseUrl, authUrl, tenantId, scope }: RunningService) {
  return { base_url: baseUrl, auth_url: authUrl, tenant_id: tenantId, scope }
}

/** The newest key that is good, or the first one of a new service, whose secret is shown this once. */
async function firstKey(place: StorePlace) {
  const portal = await openPortal(place)
  try {
    const user = await portal.accounts.ensure('local')
    return await portal.keys.ensure(user.id, FIRST_KEY)
  } finally {
    await portal.close()
  }
}

function welcome(
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
      : `export VOXMUX_CLIENT_SECRET=…   # shown once, where this key was created; a new one: voxmux portal keys regenerate ${clientId}`,
    `export VOXMUX_SCOPE=${service.scope}`,
  ]
  return `The service listens at ${service.baseUrl} (data: ${dataDir}).
Its interface: ${service.baseUrl}/api/v1/docs
A client needs:

${lines.join('\n')}
${clientSecret ? '\nThe secret is shown this once.\n' : ''}
Ctrl-C stops it; what is in work goes on at the next start.`
}

async function readServeFile(path: string | undefined, cwd: string): Promise<ServeFile> {
  if (path === undefined) return serveFileSchema.parse({})
  const absolute = resolve(cwd, path)
  return checkSchema(serveFileSchema, await readJsonFile(absolute), absolute)
}

/** Checked here already: a wrong description is not to fail the first file of a client. */
async function withEngine(file: ServeFile, engine: string | undefined, cwd: string): Promise<ServeFile> {
  if (engine === undefined) return file
  const model = resolve(cwd, engine)
  checkSchema(onnxModelSchema, await readJsonFile(model), model)
  return { ...file, engine: { kind: 'onnx', model, mask: file.engine.mask } }
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
    ...(publicUrl !== undefined && { publicUrl }),
    ...(publicStorageUrl !== undefined && { publicStorageUrl }),
    ...(storagePort !== undefined && { storagePort }),
    ...(azureContainer !== undefined && connectionString && { azure: { container: azureContainer, connectionString } }),
  }
}

/** Warnings and errors go to stderr: stdout belongs to the events. */
const logger = pino({ level: 'warn' }, pino.destination(2))
