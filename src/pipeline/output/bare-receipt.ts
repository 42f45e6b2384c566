import { voxmuxVersion } from '../../core/package-folder.js'
import { findFfmpeg } from '../../media/index.js'
import type { PipelineContext } from '../context.js'
import type { JobSettings } from '../plan/job-settings.js'
import type { Receipt } from './receipt.js'

/** The facts that every receipt of a job states. */
export interface ReceiptFacts {
  readonly jobId: string
  readonly settings: JobSettings
  readonly recipeHash: string
  readonly context: Pick<PipelineContext, 'serviceIdentity' | 'serviceAddress'>
}

/** A receipt of a job that regenerated nothing here: all but input, output and verification. */
export async function bareReceipt({
  jobId,
  settings,
  recipeHash,
  context,
}: ReceiptFacts): Promise<Omit<Receipt, 'input' | 'output' | 'verification'>> {
  return {
    schemaVersion: 1,
    voxmux: voxmuxVersion(),
    job: jobId,
    createdAt: new Date().toISOString(),
    preset: settings.preset,
    recipeHash,
    segments: [],
    streams: [],
    chapters: 0,
    losses: [],
    writing: null,
    notes: [],
    tracks: [],
    voices: [],
    voicelessPaidSec: 0,
    service: {
      identity: context.serviceIdentity,
      address: context.serviceAddress,
      model: settings.recipe.voice.model,
    },
    credentials: null,
    certificate: null,
    report: null,
    publish: null,
    ffmpeg: { version: (await findFfmpeg()).version, runs: [] },
  }
}
