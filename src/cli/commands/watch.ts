import { join, relative } from 'node:path'
import type { OperatorSide, WatchDaemon, WatchedFolder } from '../../../plugins/watch-folder/index.js'
import { type Config, resolveConfig } from '../../config/resolve-config.js'
import { type ExitCode, overallExitCode } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { voxmuxVersion } from '../../core/package-folder.js'
import type { Job, JobStore } from '../../ledger/index.js'
import { lowerToolPriority } from '../../media/index.js'
import { ledgerIdentity } from '../../pipeline/job/state-identity.js'
import { loadAhead } from '../../runtime/load-ahead.js'
import { portNumber } from '../arguments/port-number.js'
import { flagsOf, withOptions } from '../arguments/run-options.js'
import { folderFlagsOf, WATCH_OPTIONS, type WatchArguments } from '../arguments/watch-options.js'
import { type CommandContext, defineCommand } from '../command.js'
import { commandRuntime } from '../command-runtime.js'
import { untilStopped, withinSeconds } from '../interruption.js'
import { jobSettingsOf } from '../job-settings-of.js'
import { loadConfig } from '../load-config.js'
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
    const reporter = createDaemonReporter(output, args)
    const { logger } = reporter
    const folders = await foldersOf(config, args, context)
    lowerToolPriority()
    const { Metrics, openOperatorSide, SEEN_FILE, WatchDaemon, WatchTally } = await import(
      '../../../plugins/watch-folder/index.js'
    )
    const metrics = new Metrics()
    const client = { meter: metrics.meter }
    await using runtime = await commandRuntime(config, reporter, { signal, client, ending: withinSeconds })
    const tally = new WatchTally()
    let side: OperatorSide | undefined
    const { dashboard, webhookSecret: secret = null } = config.watch
    const daemon = new WatchDaemon({
      ...{ context: runtime.context, seenFile: join(config.stateDir, SEEN_FILE), logger, hooks: [tally.hooks] },
      ledgerId: await ledgerIdentity(config),
      concurrency: args['ingest-only'] ? 0 : config.workerConcurrency,
      waitsForFolders: !args.once,
      notices: { secret, dashboardUrl: () => dashboard?.publicUrl ?? side?.url ?? null },
    })
    daemon.subscribe((event) => {
      if (event.event !== 'file' && event.event !== 'progress') return
      if (event.event === 'file' && args.once) tally.add(event)
      // Programs get only the final events: a deferred file has not ended.
      if (!output.json || (event.event === 'file' && event.status !== 'pending')) reporter.report(event)
    })
    try {
      await loadAhead(runtime.context)
      const { jobs, spending } = runtime.context
      side = await openOperatorSide({
        ...{ daemon, metrics, jobs, spending, logger, env: context.env },
        ...{ stateDir: config.stateDir, version: voxmuxVersion() },
        dashboard: dashboardOf(config, args.port),
        sourcesOf: (job) => sourcesOf(job, folders),
      })
      const exitCode = await watchToTheEnd({ daemon, side, config, folders, jobs, logger }, args, context)
      reporter.stop()
      const result = args.once
        ? { exitCode: signal.aborted ? 130 : overallExitCode([tally.exitCode, exitCode]), files: tally.files }
        : { exitCode, counts: reporter.counts }
      output.result(result)
      return result.exitCode
    } finally {
      await withinSeconds(daemon.stop())
      await side?.close()
    }
  },
})

interface Watch {
  readonly daemon: WatchDaemon
  readonly side: OperatorSide
  readonly config: Config
  readonly folders: readonly WatchedFolder[]
  readonly jobs: JobStore
  readonly logger: Logger
}

/** Watches until the process is asked to stop, or with `--once` until all is done. @returns exit code; with `--once` for what is left */
async function watchToTheEnd(
  { daemon, side, config, folders, jobs, logger }: Watch,
  args: WatchArguments,
  context: CommandContext,
): Promise<ExitCode> {
  const { reloadOnSave, untilDrained } = await import('../../../plugins/watch-folder/index.js')
  const { output, signal, onHangUp } = context
  if (args['as-mounted']) daemon.acceptMounts(folders)
  await daemon.watch(folders)
  const stopReloading = await reloadOnSave({
    ...{ daemon, side, started: config, onHangUp, signal, logger },
    read: () => readAgain(args, context),
  })
  const shown = folders.map(({ path, out, failed, settings }) => ({ path, out, failed, preset: settings.preset }))
  output.event({ event: 'watching', folders: shown, url: side.url })
  await side.ready()
  const ingestOnly = args['ingest-only'] === true
  const exitCode = args.once
    ? await untilDrained(daemon, folders, { jobs, ingestOnly, signal })
    : await untilStopped(signal)
  await stopReloading()
  await side.stopping()
  await withinSeconds(daemon.stop())
  return exitCode
}

/** Reads the configuration and its folders, as they are saved now. */
async function readAgain(args: WatchArguments, context: CommandContext) {
  const { cwd, env } = context
  const config = await resolveConfig({ cwd, env, flags: flagsOf(args), configPath: args.config })
  return { config, folders: await foldersOf(config, args, context) }
}

async function foldersOf(
  config: Config,
  args: WatchArguments,
  context: CommandContext,
): Promise<readonly WatchedFolder[]> {
  const { watchedFolders } = await import('../../../plugins/watch-folder/index.js')
  const { cwd, env } = context
  return watchedFolders({
    ...{ flags: folderFlagsOf(args), watch: config.watch, cwd },
    settingsOf: async ({ preset, onlyNoisy, skipClean, qc, addTrack }) => {
      const settings = { preset, onlyNoisy, skipClean, qc, addTrack }
      const own = Object.entries(settings).filter(([, value]) => value !== undefined)
      if (own.length === 0) return jobSettingsOf(config, {}, cwd)
      const flags = { ...Object.fromEntries(own), ...flagsOf(args) }
      return jobSettingsOf(await resolveConfig({ cwd, env, flags, configPath: args.config }), {}, cwd)
    },
  })
}

function dashboardOf({ watch }: Config, port: string | undefined) {
  const { host, port: configured, publicUrl, hosts: named = [] } = watch.dashboard ?? {}
  const wanted = port === undefined ? configured : portNumber(port)
  if (wanted === undefined) return null
  const hosts = publicUrl === undefined ? named : [...named, new URL(publicUrl).host]
  return { port: wanted, hosts, host }
}

/** The possible places of a source: its original path, and the folder for published sources. */
function sourcesOf({ input, group }: Job, folders: readonly WatchedFolder[]): readonly string[] {
  const folder = folders.find((one) => one.group === group)
  return folder ? [input, join(folder.done, relative(folder.path, input))] : [input]
}
