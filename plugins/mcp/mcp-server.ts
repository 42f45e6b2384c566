import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ensureStateFolder } from '../../src/config/index.js'
import type { Config, Flags } from '../../src/config/resolve-config.js'
import { UsageError } from '../../src/core/errors.js'
import { isSameState, type QuickIdentity, quickIdentity } from '../../src/core/file-identity.js'
import type { Logger } from '../../src/core/logger.js'
import { realPathOf } from '../../src/core/make-folder.js'
import type { JobEvent } from '../../src/pipeline/events.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'
import { openJobWorker } from '../../src/pipeline/queue/job-worker.js'
import { openRuntime } from '../../src/runtime/open-runtime.js'
import type { Desk } from './desk.js'
import { type HttpFront, openHttpFront } from './http-front.js'
import { loadMcpSdk } from './sdk-package.js'
import { openServerKey } from './server-key.js'
import { openMcpSession } from './session.js'

export interface McpServerOptions {
  readonly config: Config
  /** Resolves the same configuration with settings of one job on top. */
  readonly configOf: (flags: Flags) => Promise<Config>
  /** Absolute paths of the folders that tools may read and write. Empty: only the roots of the client. */
  readonly roots: readonly string[]
  /** Must not write to stdout, which belongs to the protocol. */
  readonly logger: Logger
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  /** Called with a sentence when the embedded service starts. */
  readonly onEmbedded?: ((message: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** A running server. */
export interface McpServer {
  /** Serves the client on stdin and stdout. Resolves when the client has closed stdin. */
  serveStdio(): Promise<void>
  /** Serves clients over HTTP on loopback. @param port 0 takes any free one */
  listen(port: number): Promise<Omit<HttpFront, 'close'>>
  /** Ends all connections. Running jobs return to the ledger, and the next server continues them. */
  close(): Promise<void>
}

/**
 * Opens a server of the Model Context Protocol. It works on the jobs of all its clients, those of an earlier server
 * included.
 *
 * @throws {UsageError} `ERR_MCP_PACKAGE`, `ERR_MCP_ROOTS`, and as `openRuntime` does
 */
export async function openMcpServer(options: McpServerOptions): Promise<McpServer> {
  const { config, configOf, roots, logger, onEvent, onEmbedded, signal } = options
  const sdk = await loadMcpSdk()
  for (const root of roots) await requireFolder(root)
  const key = await openServerKey(await ensureStateFolder(config.stateDir))
  const { context, close } = await openRuntime(config, { logger, onEmbedded, signal })
  const group = `mcp ${context.serviceAddress}`
  const worker = openJobWorker(context, {
    concurrency: config.workerConcurrency,
    groups: [group],
    hooks: [asPlanned],
    onEvent,
    logger,
  })
  const desk: Desk = { context, worker, group, roots, configOf, key }
  const fronts: { close(): Promise<void> }[] = []
  worker.start()
  return {
    serveStdio: async () => {
      const session = openMcpSession(sdk, desk)
      fronts.push(session)
      const ended = new Promise<void>((resolve) => {
        session.onclose = resolve
        process.stdin.once('end', resolve).once('close', resolve)
      })
      await session.connect(new sdk.StdioServerTransport())
      await ended
    },
    listen: async (port) => {
      const front = await openHttpFront(sdk, desk, port)
      fronts.push(front)
      return front
    },
    close: async () => {
      await Promise.all(fronts.map((front) => front.close()))
      await worker.stop()
      await close()
    },
  }
}

/**
 * Refuses a file that changed between its plan and its turn: its voice could cost more than the person was shown. Refuses
 * an output whose folder has become a link, because it could lead out of the roots.
 */
const asPlanned: JobHooks = {
  name: 'voxmux mcp',
  afterPlan: async ({ input, output, data }) => {
    const planned = data.planned as QuickIdentity | undefined
    if (planned && !isSameState(planned, await quickIdentity(input))) return `${input} changed after its plan was shown`
    const folder = dirname(output)
    const place = await realPathOf(folder)
    return place === folder ? undefined : `${folder} has become a link to ${place} after the plan was shown`
  },
}

async function requireFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return
  throw new UsageError('ERR_MCP_ROOTS', `${path} is not a folder.`, {
    remedies: ['Name an existing folder with --root.'],
  })
}
