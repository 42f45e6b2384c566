import { watch } from 'chokidar'
import type { Config } from '../../src/config/index.js'
import { toVoxmuxError } from '../../src/core/errors.js'
import type { Logger } from '../../src/core/logger.js'
import type { OperatorSide } from './open-operator-side.js'
import type { WatchDaemon } from './watch-daemon.js'
import type { WatchedFolder } from './watched-folder.js'

/** An editor saves in several steps or replaces the file. It counts as saved if it stays unchanged for this long. */
const SAVED_MS = 300

/** Settings that a daemon reads only when it starts, under their names in the configuration. */
const AT_START: Readonly<Record<string, (config: Config) => unknown>> = {
  service: ({ profile, service, blockTypeHeader }) => [profile, service, blockTypeHeader],
  webhook: ({ webhook }) => webhook,
  concurrency: ({ workerConcurrency }) => workerConcurrency,
  stages: ({ stages }) => stages,
  // `requireVoice` comes from the preset, so each folder has its own.
  limits: ({ limits: { requireVoice: _, ...limits } }) => limits,
  maxSecondsPerDay: ({ maxSecondsPerDay }) => maxSecondsPerDay,
  cacheDir: ({ cacheDir }) => cacheDir,
  cacheMaxBytes: ({ cacheMaxBytes }) => cacheMaxBytes,
  keepVoicesDays: ({ keepVoicesDays }) => keepVoicesDays,
  stateDir: ({ stateDir }) => stateDir,
  store: ({ ledger, store }) => [ledger, store],
  paths: ({ paths }) => paths,
  ffmpeg: ({ ffmpeg, ffprobe }) => [ffmpeg, ffprobe],
  extensions: ({ extensions }) => extensions,
  'watch.webhookSecret': ({ watch }) => watch.webhookSecret,
  'watch.dashboard': ({ watch }) => watch.dashboard,
}

interface ReloadOptions {
  readonly daemon: WatchDaemon
  readonly side: OperatorSide
  /** The configuration that the daemon started with. */
  readonly started: Config
  /** Reads the configuration again. */
  readonly read: () => Promise<{ readonly config: Config; readonly folders: readonly WatchedFolder[] }>
  /** Registers what a hang-up (SIGHUP) calls. */
  readonly onHangUp: (reload: () => void) => void
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Reloads the configuration on SIGHUP and when one of its files is saved. Unchanged folders are not disturbed, and an
 * invalid configuration changes nothing.
 *
 * @returns a function that stops this
 */
export async function reloadOnSave(options: ReloadOptions): Promise<() => Promise<void>> {
  const { daemon, side, started, read, signal, logger } = options
  let running = Promise.resolve()
  const reload = () => {
    running = running.then(async () => {
      if (signal.aborted) return
      await side.reloading()
      try {
        const { config, folders } = await read()
        await daemon.watch(folders)
        logger.info({}, 'Reloaded the configuration.')
        const waiting = changedUntilRestart(started, config)
        if (waiting.length > 0)
          logger.warn({ settings: waiting }, `Restart voxmux to apply the changes to: ${waiting.join(', ')}.`)
      } catch (thrown) {
        const { code, message, remedies } = toVoxmuxError(thrown)
        logger.error({ code, remedies }, `The configuration was not reloaded: ${message}`)
      }
      await side.ready()
    })
  }
  options.onHangUp(reload)
  const stopWatching = await onSaved(
    started.files.map(({ path }) => path),
    reload,
  )
  return async () => {
    stopWatching()
    await running
  }
}

/** Names of the settings that changed and take effect only after a restart. */
function changedUntilRestart(started: Config, read: Config): readonly string[] {
  return Object.entries(AT_START)
    .filter(([, take]) => JSON.stringify(take(started)) !== JSON.stringify(take(read)))
    .map(([name]) => name)
}

async function onSaved(paths: readonly string[], listener: () => void): Promise<() => void> {
  if (paths.length === 0) return () => {}
  const awaitWriteFinish = { stabilityThreshold: SAVED_MS, pollInterval: 100 }
  const watcher = watch([...paths], { ignoreInitial: true, persistent: false, awaitWriteFinish })
  watcher.on('add', listener)
  watcher.on('change', listener)
  // The system is out of watches, or a share sends no events. A hang-up still reloads.
  watcher.on('error', () => {})
  await new Promise<void>((ready) => watcher.once('ready', ready))
  return () => void watcher.close()
}
