import type { PipelineContext } from '../pipeline/context.js'
import { loadJobModules } from '../pipeline/job/load-job-modules.js'

/**
 * Loads every module that jobs otherwise load when they first need it. Node.js does not try again to load a module
 * after a failure. A daemon that ran out of file handles at that moment would fail every file until its restart.
 */
export async function loadAhead({ isEmbedded }: Pick<PipelineContext, 'isEmbedded'>): Promise<void> {
  await loadJobModules()
  if (isEmbedded) await (await import('../service/index.js')).loadEngine()
}
