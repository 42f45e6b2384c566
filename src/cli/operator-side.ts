import { join, relative } from 'node:path'
import type { Metrics, OperatorSide, WatchDaemon, WatchedFolder } from '../../plugins/watch-folder/index.js'
import type { Config } from '../config/resolve-config.js'
import type { Logger } from '../core/logger.js'
import { voxmuxVersion } from '../core/version.js'
import type { Job, JobStore } from '../ledger/index.js'
import { portNumber } from './arguments/port-number.js'

export interface OperatorSideParts {
  readonly daemon: WatchDaemon
  readonly metrics: Metrics
  readonly jobs: JobStore
  readonly config: Config
  /** The text of `--port`. */
  readonly port: string | undefined
  readonly folders: readonly WatchedFolder[]
  readonly env: NodeJS.ProcessEnv
  readonly logger: Logger
}

/**
 * Opens the operator's side of a daemon: the dashboard if a port is given or configured, and the systemd notifier.
 *
 * @throws UsageError `ERR_USAGE` for an invalid port, `ERR_PORT_TAKEN`
 */
export async function openSideOf(parts: OperatorSideParts): Promise<OperatorSide> {
  const { daemon, metrics, jobs, config, folders, env, logger } = parts
  const { openOperatorSide } = await import('../../plugins/watch-folder/index.js')
  return openOperatorSide({
    ...{ daemon, metrics, jobs, logger, env, stateDir: config.stateDir, version: voxmuxVersion() },
    dashboard: dashboardOf(config, parts.port),
    sourcesOf: (job) => sourcesOf(job, folders),
  })
}

function dashboardOf({ watch }: Config, port: string | undefined) {
  const { host, hosts, port: configured } = watch.dashboard ?? {}
  const wanted = port === undefined ? configured : portNumber(port)
  if (wanted === undefined) return null
  return { port: wanted, ...(host !== undefined && { host }), ...(hosts && { hosts }) }
}

/** The possible places of a source: its original path, and the folder for published sources. */
function sourcesOf({ input, group }: Job, folders: readonly WatchedFolder[]): readonly string[] {
  const folder = folders.find((one) => one.group === group)
  return folder ? [input, join(folder.done, relative(folder.path, input))] : [input]
}
