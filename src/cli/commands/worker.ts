import { join, resolve } from 'node:path'
import type { Config, Flags } from '../../config/resolve-config.js'
import { redactUrl } from '../../core/redact.js'
import { openJobWorker } from '../../pipeline/job-worker.js'
import { orderOfRequest } from '../../pipeline/order-of-request.js'
import { queueJob } from '../../pipeline/queue-job.js'
import { Spool } from '../../pipeline/spool.js'
import { openPipelineWithPlugins } from '../../plugin-contract/index.js'
import { type CommandContext, defineCommand } from '../command.js'
import { startEmbedded } from '../embedded-service.js'
import { interrupted, withinSeconds } from '../interruption.js'
import { loadConfig } from '../load-config.js'
import { type OpenFolderHooks, openFolderHooks } from '../open-folder-hooks.js'
import { createDaemonReporter } from '../output/daemon-reporter.js'
import { CONFIG_OPTIONS, flagsOf, OUTPUT_OPTIONS, RUN_OPTIONS, withOptions } from '../run-options.js'

/** The group of jobs that come by the spool. */
const SPOOL_GROUP = 'spool'

/** `voxmux worker` */
export const command = defineCommand({
  positionals: '',
  examples: [
    ['', 'work off what waits in the ledger of this machine'],
    ['--store redis://jobs.example:6379', 'one of many on a shared job store'],
    ['--spool /var/spool/voxmux', 'take jobs that other programs drop into a folder too'],
  ],
  build: (parser) =>
    withOptions(parser, {
      spool: { type: 'string', requiresArg: true, describe: 'Folder to take jobs (*.json) from', group: 'What:' },
      ...CONFIG_OPTIONS,
      concurrency: RUN_OPTIONS.concurrency,
      ledger: RUN_OPTIONS.ledger,
      store: RUN_OPTIONS.store,
      ...OUTPUT_OPTIONS,
    }),
  run: async (args, context) => {
    const { output, signal, cwd } = context
    const flags = flagsOf(args)
    const config = await loadConfig(args, flags, context)
    const reporter = createDaemonReporter(output, args.progress)
    const { logger } = reporter
    const pipeline = await openPipelineWithPlugins(config, {
      signal,
      logger,
      startEmbedded: (dataDir) => {
        reporter.note('No service is configured: the embedded one works, on this machine.')
        return startEmbedded(dataDir)
      },
    })
    let folderHooks: OpenFolderHooks | undefined
    try {
      folderHooks = await openFolderHooks(config, cwd, logger)
      const worker = openJobWorker(pipeline.context, {
        concurrency: config.workerConcurrency,
        hooks: folderHooks.hooks,
        onEvent: reporter.report,
        logger,
      })
      const store = storeName(config)
      const folder = args.spool === undefined ? null : resolve(cwd, args.spool)
      const spool = folder === null ? null : openSpool(folder, args, flags, context)
      await spool?.start()
      worker.start()
      output.event({ event: 'working', concurrency: config.workerConcurrency, store, spool: folder })
      reporter.note(`Working off ${store}${folder === null ? '' : ` and ${folder}`}; Ctrl-C stops it.`)
      await interrupted(signal)
      await withinSeconds(Promise.all([spool?.stop(), worker.stop()]))
      reporter.stop()
      output.result({ exitCode: 0, counts: reporter.counts })
      return 0
    } finally {
      reporter.stop()
      folderHooks?.close()
      await withinSeconds(pipeline.close())
    }

    function openSpool(spoolFolder: string, given: typeof args, above: Flags, command: CommandContext): Spool {
      return new Spool({
        folder: spoolFolder,
        logger,
        take: async (request, ticket) => {
          const order = await orderOfRequest(request, SPOOL_GROUP, (own) =>
            loadConfig(given, { ...above, ...own }, { ...command, output: { ...output, note: () => {} } }),
          )
          await queueJob({ ...order, ticket }, pipeline.context, { signal })
        },
      })
    }
  },
})

/** Where the jobs are kept, without what is secret in it. */
function storeName({ store, ledger, stateDir }: Config): string {
  return store === null ? (ledger ?? join(stateDir, 'ledger.sqlite')) : redactUrl(store)
}
