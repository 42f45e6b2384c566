import { createHmac } from 'node:crypto'
import { createWebhookReceiver, type VoxmuxClient } from '../client/index.js'
import type { RemoteService, WebhookSettings } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'

/** What startProcess is told so that its events come here. */
export interface WebhookStart {
  readonly webhook: true
  /** Wins over the secret of the portal. */
  readonly webhook_secret: string
}

/** An open receiver that wakes a client. */
export interface WebhookIntake {
  readonly start: WebhookStart
  close(): Promise<void>
}

export interface WebhookIntakeOptions {
  readonly settings: WebhookSettings
  readonly access: Pick<RemoteService, 'clientId' | 'clientSecret'>
  readonly client: VoxmuxClient
  readonly logger: Logger
}

/**
 * Listens for the webhooks of a remote service. Webhooks only hasten what polling finds as well: where another process
 * has the port, this one does without.
 *
 * @throws UsageError `ERR_WEBHOOK_LISTEN` for an address that this machine cannot listen at
 */
export async function openWebhookIntake(options: WebhookIntakeOptions): Promise<WebhookIntake | null> {
  const { settings, access, client, logger } = options
  const { listen, secretPosition } = settings
  const secret = settings.secret ?? derivedSecret(access)
  const receiver = createWebhookReceiver({ secret, secretPosition, wakes: client, logger })
  try {
    const { url } = await receiver.listen(addressOf(listen))
    logger.info({ url }, 'Webhooks are received')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      logger.warn({ listen }, 'Another process receives at the address of the webhooks; the status is asked for')
      return null
    }
    throw new UsageError('ERR_WEBHOOK_LISTEN', `Webhooks cannot be received at ${listen}.`, {
      cause,
      remedies: ['Set webhook.listen to an address of this machine and a port above 1023.'],
    })
  }
  return { start: { webhook: true, webhook_secret: secret }, close: () => receiver.close() }
}

/** The same in every process that uses a key: one that attaches to a file after a crash understands its events. */
function derivedSecret({ clientId, clientSecret }: WebhookIntakeOptions['access']): string {
  return createHmac('sha256', clientSecret).update(`voxmux webhook ${clientId}`).digest('base64url')
}

/** @param listen `host:port` or `[host]:port` */
function addressOf(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':')
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) }
}
