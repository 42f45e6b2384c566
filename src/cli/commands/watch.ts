import { join } from 'node:path'
import type { OperatorSide, WatchDaemon, WatchedFolder } from 'voxmux/plugins/watch-folder'
import { type Config, resolveConfig } from '../../config/resolve-config.js'
import { toVoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { sleep } from '../../core/time.js'
import type { JobStore } from '../../jobs/index.js'
import { letToolsYield } from '../../media/index.js'
import { openPipelineWithPlugins } from '../../plugin-contract/index.js'
import { type CommandContext, defineCommand } from '../command.js'
import { startEmbedded } from '../embedded-service.js'
import { interrupted, withinSeconds } from '../interruption.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
import { changedUntilRestart } from '../needs-restart.js'
import { SEEN_FILE } from '../open-folder-hooks.js'
import { openSideOf } from '../operator-side.js'
import { createDaemonReporter } from '../output/daemon-reporter.js'
import { flagsOf, withOptions } from '../run-options.js'
import { folderFlagsOf, WATCH_OPTIONS, type WatchArguments } from '../watch-options.js'
import { WatchTally } from '../watch-tally.js'
import { watchedFolders } from '../watched-folders.js'

/** `voxmux watch [folder…]` */
export const command = defineCommand({
  positionals: '[folder..]',
  examples: [
    ['./in', 'regenerate what is dropped into it, into in/out'],
    ['/mnt/nas/in --poll --settle 30', 'a network share that tells of nothing'],
    ['--config /etc/voxmux.json --port 8080 --json', 'the folders of a configuration, with a page at port 8080'],
    ['./in --once', 'work off what is there, then end'],
  ],
  build: (parser) =>
    withOptions(
      parser.positional('folder', {
        type: 'string',
        array: true,
        describe: 'Folders; else those of the configuration',
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
    const { Metrics, WatchDaemon } = await import('voxmux/plugins/watch-folder')
    const metrics = new Metrics()
    const pipeline = await openPipelineWithPlugins(config, {
      signal,
      logger,
      client: { meter: metrics.meter },
      startEmbedded: (dataDir) => {
        reporter.note('No service is configured: the embedded one works, on this machine.')
        return startEmbedded(dataDir)
      },
    })
    const tally = new WatchTally()
    const daemon = new WatchDaemon({
      ...{ context: pipeline.context, seenFile: join(config.stateDir, SEEN_FILE), logger, hooks: [tally.hooks] },
      concurrency: args['ingest-only'] ? 0 : config.workerConcurrency,
    })
    daemon.subscribe((event) => {
      if (event.event !== 'file' && event.event !== 'progress') return
      if (event.event === 'file' && args.once) tally.add(event)
      // For programs the ends alone: a file that is put off is not over.
      if (!output.json || (event.event === 'file' && event.status !== 'pending')) reporter.report(event)
    })
    let side: OperatorSide | undefined
    try {
      const { jobs } = pipeline.context
      const { env } = context
      side = await openSideOf({ daemon, metrics, jobs, config, port: args.port, folders, env, logger })
      if (args['as-mounted']) daemon.takeAsMounted(folders)
      await daemon.watch(folders)
      const stopReloading = await reloading(daemon, side, config, args, context, logger)
      output.event({ event: 'watching', folders: folders.map(shown), url: side.url })
      await side.ready()
      await (args.once ? workedOff(daemon, folders, pipeline.context.jobs, args, signal) : interrupted(signal))
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
      await withinSeconds(pipeline.close())
    }
  },
})

function foldersOf(config: Config, args: WatchArguments, context: CommandContext): Promise<readonly WatchedFolder[]> {
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
 * Reads the configuration anew at a hang-up (SIGHUP) and when one of its files is saved; folders that it does not
 * change go on undisturbed, and one that cannot be read changes nothing. @returns how to end that
 */
async function reloading(
  daemon: WatchDaemon,
  side: OperatorSide,
  config: Config,
  args: WatchArguments,
  context: CommandContext,
  logger: Logger,
): Promise<() => Promise<void>> {
  const { onSaved } = await import('voxmux/plugins/watch-folder')
  let running = Promise.resolve()
  const reload = () => {
    running = running.then(async () => {
      if (context.signal.aborted) return
      await side.reloading()
      try {
        const { cwd, env } = context
        const read = await resolveConfig({ cwd, env, flags: flagsOf(args), configPath: args.config })
        await daemon.watch(await foldersOf(read, args, context))
        logger.info({}, 'Read the configuration again.')
        const waiting = changedUntilRestart(config, read)
        if (waiting.length > 0)
          logger.warn({ settings: waiting }, `In force only when voxmux is started anew: ${waiting.join(', ')}.`)
      } catch (thrown) {
        const { code, message, remedies } = toVoxmuxError(thrown)
        logger.error({ code, remedies }, `The configuration stays as it was: ${message}`)
      }
      await side.ready()
    })
  }
  context.answerHangUp(reload)
  const paths = config.files.map(({ path }) => path)
  const stopWatching = await onSaved(paths, reload)
  return async () => {
    stopWatching()
    await running
  }
}

/** How often `--once` looks whether all is done. */
const ONCE_MS = 100

/** Ends when everything that was there is taken, and no job of it is left that would begin by itself now. */
async function workedOff(
  daemon: WatchDaemon,
  folders: readonly WatchedFolder[],
  jobs: JobStore,
  args: WatchArguments,
  signal: AbortSignal,
): Promise<void> {
  const groups = new Set(folders.map(({ group }) => group))
  while (!signal.aborted) {
    if (daemon.isWorkedOff && (args['ingest-only'] || !(await hasWork(jobs, groups)))) return
    await sleep(ONCE_MS, signal).catch(() => {})
  }
}

/** A job that was put off after a fault is another run's. */
async function hasWork(jobs: JobStore, groups: ReadonlySet<string>): Promise<boolean> {
  const counts = (await jobs.counts()).filter(({ group, count }) => groups.has(group) && count > 0)
  if (counts.some(({ status }) => status === 'working' || status === 'waiting-remote')) return true
  const queued = counts.filter(({ status }) => status === 'queued')
  for (const { group, count } of queued) {
    const waiting = await jobs.list({ group, statuses: ['queued'], limit: count })
    if (waiting.some(({ error, notBeforeMs }) => error === null || notBeforeMs === null)) return true
  }
  return false
}
