import { VoxmuxClient } from '../../src/client/index.js'
import { DEFAULT_RECIPE, type Recipe } from '../../src/config/preset-schema.js'
import type { Logger } from '../../src/core/logger.js'
import { openLedger, VoiceCache } from '../../src/ledger/index.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import { openStageSlots } from '../../src/pipeline/stage-slots.js'
import { PLACES } from './places.js'

const SERVICE = {
  ...{ baseUrl: 'https://service.sim', authUrl: 'https://login.sim', tenantId: 'tenant', clientId: 'client' },
  scope: 'api://sim/.default',
}

export interface OpenedPipeline {
  readonly context: PipelineContext
  close(): Promise<void>
}

let opened = 0

/** The real pipeline of one process: ledger, client and cache, wired as `openPipeline` wires them. */
export async function openPipeline(logger: Logger): Promise<OpenedPipeline> {
  const ledger = await openLedger(PLACES.ledger)
  // A secret of its own keeps it from sharing the poller of a process that was killed.
  const client = new VoxmuxClient({ ...SERVICE, clientSecret: `the secret of process ${++opened}`, logger })
  const context: PipelineContext = {
    client: async () => client,
    serviceIdentity: 'simulated',
    serviceAddress: SERVICE.baseUrl,
    voices: ledger.voices,
    spending: ledger.spending,
    learned: ledger.limits,
    jobs: ledger.jobs,
    cache: new VoiceCache(`${PLACES.state}/cache`, { maxBytes: 1e9 }),
    limits: {},
    maxSecondsPerDay: null,
    stateDir: PLACES.state,
    voiceConcurrency: 4,
    slots: openStageSlots({ local: 4 }),
    logger,
  }
  return {
    context,
    close: async () => {
      client.close()
      await ledger.close()
    },
  }
}

/** What a folder or a run does with a file; recipes are told apart by the model they ask for. */
export function settingsWith(model: string): JobSettings {
  const recipe: Recipe = { ...DEFAULT_RECIPE, voice: { ...DEFAULT_RECIPE.voice, model } }
  const plain = { segments: [], outputType: null, strict: false, report: false, chunkSec: null, previewSec: null }
  return { preset: model, recipe, ...plain, force: false }
}
