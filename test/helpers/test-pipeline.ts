import { join, resolve } from 'node:path'
import { VoxmuxClient } from '../../src/client/index.js'
import { DEFAULT_RECIPE, type Recipe } from '../../src/config/preset-schema.js'
import { silentLogger } from '../../src/core/logger.js'
import { openLedger, sortableId, VoiceCache } from '../../src/ledger/index.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import type { PlanRequest } from '../../src/pipeline/plan/plan-job.js'
import { openStageSlots } from '../../src/pipeline/stage-slots.js'
import type { FaultServer } from './fault-server.js'

export interface TestPipeline {
  readonly context: PipelineContext
  close(): Promise<void>
}

/** A pipeline against a fault server, impatient enough for a test. */
export async function openTestPipeline(server: FaultServer, stateDir: string): Promise<TestPipeline> {
  const ledger = await openLedger(join(stateDir, 'ledger.sqlite'))
  const client = new VoxmuxClient({
    ...server.clientOptions,
    retry: { limit: 4, baseMs: 5, maxMs: 50, retryAfterMaxMs: 1000 },
    polling: { minMs: 5, maxMs: 50, notFoundGraceMs: 100, outageMs: 500 },
  })
  const context: PipelineContext = {
    client: async () => client,
    serviceIdentity: 'test',
    serviceAddress: server.clientOptions.baseUrl,
    voices: ledger.voices,
    spending: ledger.spending,
    learned: ledger.limits,
    jobs: ledger.jobs,
    cache: new VoiceCache(join(stateDir, 'cache'), { maxBytes: 1e9 }),
    limits: {},
    maxSecondsPerDay: null,
    stateDir,
    voiceConcurrency: 4,
    slots: openStageSlots(),
    logger: silentLogger,
  }
  return {
    context,
    close: async () => {
      client.close()
      await ledger.close()
    },
  }
}

export interface RequestOptions extends Partial<Omit<JobSettings, 'recipe'>> {
  readonly output?: string
  readonly recipe?: Partial<Recipe>
}

/** A request for one file with the transparent recipe, but for what is given. */
export function requestFor(input: string, { output, recipe, ...settings }: RequestOptions = {}): PlanRequest {
  return {
    provisionalId: sortableId(),
    input: resolve(input),
    output,
    cwd: process.cwd(),
    group: 'test',
    remote: false,
    settings: {
      preset: 'transparent',
      recipe: { ...DEFAULT_RECIPE, ...recipe },
      segments: [],
      outputType: null,
      strict: false,
      report: false,
      chunkSec: null,
      previewSec: null,
      force: false,
      ...settings,
    },
  }
}
