import { join, resolve } from 'node:path'
import { type Config, type Flags, resolveConfig } from '../../config/resolve-config.js'
import { shownAddress } from '../../ledger/index.js'
import { openJobWorker } from '../../pipeline/queue/job-worker.js'
import { Spool, type SpoolOptions } from '../../pipeline/queue/spool.js'
import { takeRequest } from '../../pipeline/queue/take-request.js'
import { loadAhead } from '../../runtime/load-ahead.js'
import { text } from '../arguments/option.js'
import { CONFIG_OPTIONS, flagsOf, LOG_OPTIONS, RUN_OPTIONS, withOptions } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { commandRuntime } from '../command-runtime.js'
import { untilStopped, withinSeconds } from '../interruption.js'
import { loadConfig } from '../load-config.js'
import { createDaemonReporter } from '../output/daemon-reporter.js'

const SPOOL_GROUP = 'spool'

/** `voxmux worker` */
export const command = defineCommand({
  positionals: '',
  examples: [
    ['', 'process the jobs that wait in the ledger of this computer'],
    ['--store postgres://jobs.example/voxmux', 'run one of many workers on a shared job store'],
    ['--spool /var/spool/voxmux', 'also take jobs that other programs drop into a folder'],
  ],
  build: (parser) =>
    withOptions(parser, {
      spool: text('Folder to take jobs (*.json) from', 'Input:'),
      ...CONFIG_OPTIONS,
      concurrency: { ...RUN_OPTIONS.concurrency, describe: 'Files at the same time (default: 16)' },
      ledger: RUN_OPTIONS.ledger,
      store: RUN_OPTIONS.store,
      ...LOG_OPTIONS,
    }),
  run: async (args, context) => {
    const { output, signal, cwd, env } = context
    const flags = flagsOf(args)
    const config = await loadConfig(args, flags, context)
    const reporter = createDaemonReporter(output, args)
    const { logger } = reporter
    await using runtime = await commandRuntime(config, reporter, { signal, ending: withinSeconds })
    await loadAhead(runtime.context)
    const { openFolderHooks } = await import('../../../plugins/watch-folder/index.js')
    const folderHooks = await openFolderHooks(config, cwd, logger)
    try {
      const worker = openJobWorker(runtime.context, {
        concurrency: config.workerConcurrency,
        hooks: folderHooks.hooks,
        onEvent: reporter.report,
        logger,
      })
      const store = storeName(config)
      const folder = args.spool === undefined ? null : resolve(cwd, args.spool)
      const configOf = (own: Flags) => resolveConfig({ cwd, env, configPath: args.config, flags: { ...flags, ...own } })
      const take: SpoolOptions['take'] = (request, ticket) =>
        takeRequest(request, runtime.context, { ticket, group: SPOOL_GROUP, configOf, signal })
      const spool = folder === null ? null : new Spool({ folder, take, logger })
      await spool?.start()
      worker.start()
      output.event({ event: 'working', concurrency: config.workerConcurrency, store, spool: folder })
      reporter.note(`Processing jobs from ${store}${folder === null ? '' : ` and ${folder}`}. Press Ctrl-C to stop.`)
      const exitCode = await untilStopped(signal)
      await withinSeconds(Promise.all([spool?.stop(), worker.stop()]))
      reporter.stop()
      output.result({ exitCode, counts: reporter.counts })
      return exitCode
    } finally {
      folderHooks.close()
    }
  },
})

/** The place of the jobs, without secrets. */
function storeName({ store, ledger, stateDir }: Config): string {
  return store === null ? (ledger ?? join(stateDir, 'ledger.sqlite')) : shownAddress(store)
}
