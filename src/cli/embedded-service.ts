import type { EmbeddedServiceHandle } from '../pipeline/open-pipeline.js'

/** Starts the service that voxmux carries, which is only loaded now: a run with a remote one does without. */
export async function startEmbedded(dataDir: string): Promise<EmbeddedServiceHandle> {
  const service = await import('../service/index.js')
  return service.startEmbedded(dataDir)
}
