/**
 * One worker of a farm as a process of its own: `npx tsx test/farm/farm-worker-main.ts <settings as JSON>`.
 * Says `ready`, works until it is killed or told to end, and never ends by itself.
 */
import { basename, join } from 'node:path'
import { VoxmuxClient } from '../../src/client/index.js'
import { silentLogger } from '../../src/core/logger.js'
import { JobQueue, openLedger, openSharedLedger, VoiceCache } from '../../src/ledger/index.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import { openJobWorker } from '../../src/pipeline/queue/job-worker.js'
import { openStageSlots } from '../../src/pipeline/stage-slots.js'
import type { FarmSettings } from './farm.js'
import { lightJob } from './light-job.js'

const settings = JSON.parse(process.argv[2] ?? '') as FarmSettings
const { store, client: access, folder, concurrency, leaseMs, kind } = settings
const say = (line: string) => process.stdout.write(`${line}\n`)

const ledger = await (/^postgres:/.test(store) ? openSharedLedger(store) : openLedger(store))
const client = new VoxmuxClient({
  ...access,
  retry: { limit: 8, baseMs: 20, maxMs: 200, retryAfterMaxMs: 1000 },
  polling: { minMs: 5, maxMs: 100, notFoundGraceMs: 1000, outageMs: 10_000 },
})
const context: PipelineContext = {
  client: async () => client,
  serviceIdentity: 'farm',
  serviceAddress: access.baseUrl,
  voices: ledger.voices,
  spending: ledger.spending,
  learned: ledger.limits,
  jobs: ledger.jobs,
  cache: new VoiceCache(join(folder, 'cache'), { maxBytes: 1e9 }),
  limits: {},
  maxSecondsPerDay: null,
  stateDir: join(folder, `state-${process.pid}`),
  voiceConcurrency: 4,
  slots: openStageSlots(),
  logger: silentLogger,
}
const common = { concurrency, pollMs: 100, retryDelay: () => 50 }
const worker =
  kind === 'light'
    ? new JobQueue({ ...common, store: ledger.jobs, leaseMs, run: (held) => lightJob(held, context, folder) })
    : openJobWorker(context, {
        ...common,
        onEvent: (event) =>
          event.event === 'progress' && say(`${event.stage} ${event.percent} ${basename(event.input)}`),
      })
worker.start()
say('ready')
process.once('SIGTERM', () => {
  void worker
    .stop()
    .then(() => ledger.close())
    .finally(() => process.exit(0))
})
