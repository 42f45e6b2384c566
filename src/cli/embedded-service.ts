import type { EmbeddedServiceHandle } from '../pipeline/open-pipeline.js'

/** Starts the service that voxmux carries on loopback, with a key for this process; it speaks the real protocol. */
export async function startEmbedded(dataDir: string): Promise<EmbeddedServiceHandle> {
  const { startService } = await import('../service/index.js')
  const running = await startService({ dataDir })
  try {
    const { clientId, clientSecret } = await running.createKey('local')
    const { baseUrl, authUrl, tenantId, scope, onFileEnd } = running
    const access = { baseUrl, authUrl, tenantId, scope, clientId, clientSecret }
    return { access, onFileEnd, close: () => running.close() }
  } catch (error) {
    await running.close()
    throw error
  }
}
