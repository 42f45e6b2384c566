import type { RunningService, ServiceCredentials } from './service-handle.js'
import { startService } from './start-service.js'

/** The service as part of this process: the shape that `openPipeline` expects from `startEmbedded`. */
export interface EmbeddedService extends Pick<RunningService, 'onFileEnd' | 'onDiskFault' | 'close'> {
  /** Address, and a key that is valid while the service runs. */
  readonly access: Pick<RunningService, 'baseUrl' | 'authUrl' | 'tenantId' | 'scope'> & ServiceCredentials
}

/**
 * Starts a node on loopback with a key for this process. It uses the same protocol as a remote service. A film that a
 * person gave up does not hold up the next command.
 *
 * @param engine path of the description of an ONNX voice model; null for the embedded models
 */
export async function startEmbedded(dataDir: string, engine: string | null): Promise<EmbeddedService> {
  const settings = engine === null ? {} : { engine: { kind: 'onnx' as const, model: engine } }
  const running = await startService({ dataDir, settings, askedOnly: true })
  try {
    const { clientId, clientSecret } = await running.createKey('local')
    const { baseUrl, authUrl, tenantId, scope, onFileEnd, onDiskFault } = running
    const access = { baseUrl, authUrl, tenantId, scope, clientId, clientSecret }
    return { access, onFileEnd, onDiskFault, close: () => running.close() }
  } catch (error) {
    await running.close()
    throw error
  }
}
