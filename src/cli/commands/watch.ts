import { join } from 'node:path'
import type { OperatorSide, WatchDaemon, WatchedFolder } from '../../../plugins/watch-folder/index.js'
import { type Config, resolveConfig } from '../../config/resolve-config.js'
import { toVoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { sleep } from '../../core/time.js'
import type { JobStore } from '../../ledger/index.js'
import { letToolsYield } from '../../media/index.js'
import { openRuntime } from '../../runtime/open-runtime.js'
import { flagsOf, withOptions } from '../arguments/run-options.js'
import { folderFlagsOf, WATCH_OPTIONS, type WatchArguments } from '../arguments/watch-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { interrupted, withinSeconds } from '../interruption.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { openSideOf } from '../operator-side.js'
import { createDaemonReporter } from '../output/daemon-reporter.js'

/** `voxmux watch [folder…]` */
export const command = defineCommand({
  positionals: '[folder..]',
  examples: [
    ['./in', 'regenerate the files dropped into in, and save them in in/out'],
    ['/mnt/nas/in --poll --settle 30', 'watch a network share that sends no events'],
    ['--config /etc/voxmux.json --port 8080 --json', 'watch the configured folders, with a dashboard on port 8080'],
    ['./in --once', 'process the files that are there, then exit'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('folder', {
        type: 'string',
        array: true,
        describe: 'Folders to watch (default: those of the configuration)',
      }),
      WATCH_OPTIONS,
    ),
  run: async (args, context) => {
    const { output, signal } = context
    const config = await loadConfig(args, flagsOf(args), context)
    const reporter = createDaemonReporter(output, args.progress)
    const { logger } = reporter
    const folders = await foldersOf(config, args, context)
    letToolsYield()
    const { Metrics, SEEN_FILE, WatchDaemon, WatchTally } = await import('../../../plugins/watch-folder/index.js')
    const metrics = new Metrics()
    const runtime = await openRuntime(config, {
      signal,
      logger,
      client: { meter: metrics.meter },
      onEmbedded: reporter.note,
    })
    const tally = new WatchTally()
    const daemon = new WatchDaemon({
      ...{ context: runtime.context, seenFile: join(config.stateDir, SEEN_FILE), logger, hooks: [tally.hooks] },
      concurrency: args['ingest-only'] ? 0 : config.workerConcurrency,
    })
    daemon.subscribe((event) => {
      if (event.event !== 'file' && event.event !== 'progress') return
      if (event.event === 'file' && args.once) tally.add(event)
      // Programs get only the final events: a deferred file has not ended.
      if (!output.json || (event.event === 'file' && event.status !== 'pending')) reporter.report(event)
    })
    let side: OperatorSide | undefined
    try {
      const { jobs } = runtime.context
      const { env } = context
      side = await openSideOf({ daemon, metrics, jobs, config, port: args.port, folders, env, logger })
      if (args['as-mounted']) daemon.takeAsMounted(folders)
      await daemon.watch(folders)
      const stopReloading = await reloading(daemon, side, config, args, context, logger)
      output.event({ event: 'watching', folders: folders.map(shown), url: side.url })
      await side.ready()
      await (args.once ? untilDrained(daemon, folders, runtime.context.jobs, args, signal) : interrupted(signal))
      await stopReloading()
      await side.stopping()
      await withinSeconds(daemon.stop())
      reporter.stop()
      if (!args.once) {
        output.result({ exitCode: 0, counts: reporter.counts })
        return 0
      }
      const exitCode = signal.aborted ? 130 : tally.exitCode
      output.result({ exitCode, files: tally.files })
      return exitCode
    } finally {
      reporter.stop()
      await withinSeconds(daemon.stop())
      await side?.close()
      await withinSeconds(runtime.close())
    }
  },
})

async function foldersOf(
  config: Config,
  args: WatchArguments,
  context: CommandContext,
): Promise<readonly WatchedFolder[]> {
  const { watchedFolders } = await import('../../../plugins/watch-folder/index.js')
  const { cwd, env } = context
  return watchedFolders({
    ...{ flags: folderFlagsOf(args), watch: config.watch, cwd },
    settingsOf: async (preset) => {
      if (preset === undefined || args.preset !== undefined) return jobSettingsOf(config, {}, cwd)
      const flags = { ...flagsOf(args), preset }
      return jobSettingsOf(await resolveConfig({ cwd, env, flags, configPath: args.config }), {}, cwd)
    },
  })
}

function shown({ path, out, failed, settings }: WatchedFolder) {
  return { path, out, failed, preset: settings.preset }
}

/**
 * Reads the configuration again on SIGHUP and when one of its files is saved. Unchanged folders go on undisturbed, and
 * an invalid configuration changes nothing. @returns a function that stops this
 */
async function reloading(
  daemon: WatchDaemon,
  side: OperatorSide,
  config: Config,
  args: WatchArguments,
  context: CommandContext,
  logger: Logger,
): Promise<() => Promise<void>> {
  const { changedUntilRestart, onSaved } = await import('../../../plugins/watch-folder/index.js')
  let running = Promise.resolve()
  const reload = () => {
    running = running.then(async () => {
      if (context.signal.aborted) return
      await side.reloading()
      try {
        const { cwd, env } = context
        const read = await resolveConfig({ cwd, env, flags: flagsOf(args), configPath: args.config })
        await daemon.watch(await foldersOf(read, args, context))
        logger.info({}, 'Reloaded the configuration.')
        const waiting = changedUntilRestart(config, read)
        if (waiting.length > 0)
          logger.warn({ settings: waiting }, `Restart voxmux to apply the changes to: ${waiting.join(', ')}.`)
      } catch (thrown) {
        const { code, message, remedies } = toVoxmuxError(thrown)
        logger.error({ code, remedies }, `The configuration was not reloaded: ${message}`)
      }
      await side.ready()
    })
  }
  context.onHangUp(reload)
  const paths = config.files.map(({ path }) => path)
  const stopWatching = await onSaved(paths, reload)
  return async () => {
    stopWatching()
    await running
  }
}

/** How often `--once` checks whether all is done. */
const ONCE_MS = 100

/** Resolves when every file that was there has been claimed and no job of these folders is ready to run. */
async function untilDrained(
  daemon: WatchDaemon,
  folders: readonly WatchedFolder[],
  jobs: JobStore,
  args: WatchArguments,
  signal: AbortSignal,
): Promise<void> {
  const groups = new Set(folders.map(({ group }) => group))
  while (!signal.aborted) {
    if (daemon.isWorkedOff && (args['ingest-only'] || !(await hasReadyJobs(jobs, groups)))) return
    await sleep(ONCE_MS, signal).catch(() => {})
  }
}

/** A job deferred after a fault is left to a later run. */
async function hasReadyJobs(jobs: JobStore, groups: ReadonlySet<string>): Promise<boolean> {
  const counts = (await jobs.counts()).filter(({ group, count }) => groups.has(group) && count > 0)
  if (counts.some(({ status }) => status === 'working' || status === 'waiting-remote')) return true
  const queued = counts.filter(({ status }) => status === 'queued')
  for (const { group, count } of queued) {
    const waiting = await jobs.list({ group, statuses: ['queued'], limit: count })
    if (waiting.some(({ error, notBeforeMs }) => error === null || notBeforeMs === null)) return true
  }
  return false
}
