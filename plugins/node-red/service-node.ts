import { VoxmuxClient } from '../../src/client/voxmux-client.js'
import { thrownMessage } from '../../src/core/errors.js'
import type { FlowNode } from './runtime.js'

/** The fields of the editor, without the secrets. */
export interface ServiceConfig {
  readonly baseUrl: string
  readonly authUrl: string
  readonly tenantId: string
  readonly scope: string
  readonly model: string
  readonly blockTypeHeader: string
}

/** An API key of the developer portal, with the client that its nodes share: one token, and one poller. */
export interface ServiceNode extends FlowNode {
  client?: VoxmuxClient
  /** The reason why there is no client. */
  fault?: Error
  model: string
  webhookSecret: string | undefined
}

type Secrets = Readonly<Record<string, string | undefined>>

/** Opens the client of a service, and closes it with the node. */
export function openService(node: ServiceNode, config: ServiceConfig): void {
  const { credentials = {} } = node
  node.model = config.model
  node.webhookSecret = credentials.webhookSecret || undefined
  try {
    node.client = clientOf(config, credentials)
  } catch (thrown) {
    node.fault = thrown as Error
  }
  node.on('close', (done) => {
    node.client?.close()
    done()
  })
}

/**
 * The button of the editor: gets a token and asks the service for a file that does not exist.
 *
 * @param values what stands in the editor; a secret that was not typed again stands in `kept`
 */
export async function testService(
  values: Partial<ServiceConfig> & Secrets,
  kept: Secrets,
): Promise<{ readonly ok: boolean; readonly message: string }> {
  // The editor shows a kept password as this word.
  const typed = (name: string) => (values[name] === '__PWRD__' ? undefined : values[name]) || kept[name]
  let client: VoxmuxClient | undefined
  try {
    const secrets = { clientId: typed('clientId'), clientSecret: typed('clientSecret') }
    client = clientOf(values as ServiceConfig, secrets, { limit: 0 })
    await client.getFilesStatus(['voxmux-test'])
    return { ok: true, message: 'The service accepts the key.' }
  } catch (thrown) {
    return { ok: false, message: thrownMessage(thrown) }
  } finally {
    client?.close()
  }
}

function clientOf(config: ServiceConfig, secrets: Secrets, retry: { limit?: number } = {}): VoxmuxClient {
  const { baseUrl, authUrl, tenantId, scope, blockTypeHeader } = config
  return new VoxmuxClient({
    ...{ baseUrl, authUrl, tenantId, scope, retry },
    ...{ clientId: secrets.clientId ?? '', clientSecret: secrets.clientSecret ?? '' },
    blockTypeHeader: blockTypeHeader || undefined,
  })
}
