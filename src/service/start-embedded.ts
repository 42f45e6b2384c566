import type { VoxmuxError } from '../core/errors.js'
import { startService } from './start-service.js'

/** The service as part of this process: the shape that `openPipeline` expects from `startEmbedded`. */
export interface EmbeddedService {
  /** Address, and a key that is valid while the service runs. */
  readonly access: {
    readonly baseUrl: string
    readonly authUrl: string
    readonly tenantId: string
    readonly clientId: string
    readonly clientSecret: string
    readonly scope: string
  }
  /** Calls the listener for every file that ended in this process. */
  onFileEnd(listener: (fileId: string) => void): void
  /** Calls the listener when this node cannot go on with its files because its disk is full or fails. */
  onDiskFault(listener: (error: VoxmuxError) => void): void
  close(): Promise<void>
}

/**
 * Starts a node on loopback with a key for this process. It uses the same protocol as a remote service.
 *
 * @param engine path of the description of an ONNX voice model; null for the embedded models
 */
export async function startEmbedded(dataDir: string, engine: string | null = null): Promise<EmbeddedService> {
  const settings = engine === null ? {} : { engine: { kind: 'onnx' as const, model: engine } }
  const running = await startService({ dataDir, settings })
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
