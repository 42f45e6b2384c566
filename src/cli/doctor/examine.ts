import { existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { VoxmuxClient } from '../../client/index.js'
import { type Config, describeOrigin, ensureStateFolder, requireService } from '../../config/index.js'
import { TransientError, UsageError } from '../../core/errors.js'
import { loadExtension } from '../../extensions/index.js'
import { requireLedger, VoiceCache } from '../../ledger/index.js'
import { findFfmpeg, findFfprobe, forgetBinaries, lackingParts, type MediaBinary } from '../../media/index.js'
import { describeBytes } from '../../precheck/index.js'
import { oldNode } from '../old-node.js'
import { examineFolders } from './examine-folders.js'
import { examineStore } from './examine-store.js'
import { type Finding, fault, finding, fine, remark } from './finding.js'

/** A file that nobody registered. Asking for it tests the credentials and costs nothing. */
const UNKNOWN_FILE_ID = 'voxmux-doctor'

/** An hour of uncompressed stereo takes 1 GB, so less space than this soon fills up. */
const LITTLE_SPACE_BYTES = 2 * 1000 ** 3

/** With less space than this, even a short file fails. */
const FULL_BYTES = 100 * 1000 ** 2

/** Examines everything that a run needs, in the order in which a run needs it. */
export async function examine(config: Config, signal: AbortSignal): Promise<readonly Finding[]> {
  return [
    await finding('node', nodeVersion),
    ...(await examineTools(config)),
    ...(await examineStateFolder(config)),
    ...configuration(config),
    ...(await examineCache(config)),
    ...(await examineLedger(config)),
    ...(await examineStore(config)),
    ...(await examineFolders(config)),
    ...(await examineExtensions(config)),
    await finding('service', () => service(config, signal)),
  ]
}

/** Finds ffmpeg and ffprobe, runs each once, and reports their origin and missing parts. */
export async function examineTools(config: Config | undefined): Promise<readonly Finding[]> {
  forgetBinaries()
  const describe = (tool: 'ffmpeg' | 'ffprobe', { path, version }: MediaBinary) =>
    `${version}, ${path} (${binaryOrigin(path, config, tool)})`
  const tools = await Promise.all([
    finding('ffmpeg', async () => describe('ffmpeg', await findFfmpeg())),
    finding('ffprobe', async () => describe('ffprobe', await findFfprobe())),
  ])
  return tools[0].status === 'ok' ? [...tools, ...(await examineParts())] : tools
}

/** Reports missing filters and encoders. Only special-purpose builds lack any. */
async function examineParts(): Promise<readonly Finding[]> {
  const { filters, encoders } = await lackingParts()
  const lacks = (kind: string, names: readonly string[]) => `this ffmpeg lacks the ${kind} ${names.join(', ')}`
  if (filters.length > 0) {
    const remedies = ['Set VOXMUX_FFMPEG to a full build, or run `voxmux doctor --install` to install one.']
    const what = `${lacks('filters', filters)}, so it cannot regenerate any file.`
    return [fault('ffmpeg parts', new UsageError('ERR_FFMPEG_LACKS', what, { remedies }))]
  }
  if (encoders.length === 0) return []
  return [remark('ffmpeg parts', `${lacks('encoders', encoders)}, so it cannot write audio of these kinds.`)]
}

function binaryOrigin(path: string, config: Config | undefined, tool: 'ffmpeg' | 'ffprobe'): string {
  const origin = config?.origins.get(tool)
  if (origin) return `set by ${describeOrigin(origin)}`
  return /[\\/]node_modules[\\/]/.test(path) ? 'installed with voxmux' : 'from the system'
}

async function nodeVersion(): Promise<string> {
  const fault = oldNode(process.versions.node)
  if (fault) throw fault
  return process.versions.node
}

async function examineStateFolder(config: Config): Promise<readonly Finding[]> {
  const state = await finding('state folder', () => ensureStateFolder(config.stateDir))
  if (state.status !== 'ok') return [state]
  const { bavail, bsize } = await statfs(config.stateDir)
  return [state, examineSpace(config.stateDir, bavail * bsize)]
}

/** Judges a cache that has a folder of its own. */
async function examineCache({ cacheDir, cacheMaxBytes: maxBytes }: Config): Promise<readonly Finding[]> {
  if (cacheDir === null) return []
  const cache = new VoiceCache(cacheDir, { maxBytes })
  return [await finding('cache', () => cache.requireFolder().then(() => cacheDir))]
}

/** Judges the ledger of this machine, if there is one and it is used. */
export async function examineLedger({ store, ledger, stateDir }: Config): Promise<readonly Finding[]> {
  const file = ledger ?? join(stateDir, 'ledger.sqlite')
  if (store !== null || !existsSync(file)) return []
  return [
    await finding('ledger', async () => {
      requireLedger(file)
      return file
    }),
  ]
}

function configuration(config: Config): readonly Finding[] {
  const files = config.files.map(({ path, kind }) => remark('configuration', `${path} (${kind})`))
  const chosen = [...config.origins].filter(([, { kind }]) => kind !== 'default' && kind !== 'preset')
  const values = chosen.map(([path, origin]) => remark('setting', `${path} from ${describeOrigin(origin)}`))
  const notes = [...config.notes, ...readableSecrets(config)].map((note) => remark('note', note))
  const preset = remark('preset', `${config.preset.name}: ${config.preset.description}`)
  return [...files, ...values, preset, ...notes]
}

async function service(config: Config, signal: AbortSignal): Promise<string> {
  const target = requireService(config)
  if (target.kind === 'embedded') return 'embedded: runs on this computer and needs no account'
  const { kind: _, ...access } = target
  const client = new VoxmuxClient({ ...access, blockTypeHeader: config.blockTypeHeader, retry: { limit: 1 } })
  try {
    await client.ping({ signal })
    await client.getFilesStatus([UNKNOWN_FILE_ID], { signal })
    return `${new URL(target.baseUrl).origin} responds and accepts the credentials`
  } finally {
    client.close()
  }
}

/** Loads the configured extensions and checks their options, without starting them. */
function examineExtensions({ extensions }: Config): Promise<readonly Finding[]> {
  return Promise.all(
    extensions.map((configured) =>
      finding('extension', async () => {
        const { extension, path } = await loadExtension(configured)
        return `${extension.name}: ${extension.description} (${path})`
      }),
    ),
  )
}

/** Judges the free bytes on the disk of the state folder. */
export function examineSpace(stateDir: string, freeBytes: number): Finding {
  const [check, detail] = ['free space', `${describeBytes(freeBytes)} free`]
  const remedies = [`Free some space on the disk of ${stateDir}, or name a folder on another one in VOXMUX_STATE_DIR.`]
  if (freeBytes < FULL_BYTES)
    return fault(check, new TransientError('ERR_DISK_FULL', `The disk is almost full: ${detail}.`, { remedies }))
  return freeBytes < LITTLE_SPACE_BYTES ? remark(check, `only ${detail}`, remedies) : fine(check, detail)
}

const SECRETS = /(^|\.)(clientSecret|webhook\.secret|webhookSecret)$/
/** An address with a password. */
const WITH_PASSWORD = /^\w+:\/\/[^/@]*:[^/@]+@/

/** Notes for configuration files that hold a secret and that every user of this machine may read. */
function readableSecrets({ files }: Pick<Config, 'files'>): readonly string[] {
  if (process.platform === 'win32') return []
  return files.flatMap(({ path, settings }) => {
    const secrets = [...settings].filter(
      ([name, value]) => SECRETS.test(name) || (name === 'store' && WITH_PASSWORD.test(String(value))),
    )
    if (secrets.length === 0 || (statSync(path).mode & 0o004) === 0) return []
    const names = secrets.map(([name]) => name).join(' and ')
    return [`${path} holds ${names}, and every user of this machine can read it: chmod 640 it, or use the environment.`]
  })
}
