import { createHmac } from 'node:crypto'
import { createWebhookReceiver, type VoxmuxClient } from '../client/index.js'
import type { RemoteService, WebhookSettings } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { FileNews } from '../jobs/index.js'

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
  /** Of a store that machines share: one receiver serves them all. */
  readonly news?: FileNews | undefined
  readonly logger: Logger
}

/**
 * Listens for the webhooks of a remote service. Webhooks only hasten what polling finds as well: where another process
 * has the port, this one does without.
 *
 * @throws UsageError `ERR_WEBHOOK_LISTEN` for an address that this machine cannot listen at
 */
export async function openWebhookIntake(options: WebhookIntakeOptions): Promise<WebhookIntake | null> {
  const { settings, access, client, news, logger } = options
  const { listen, secretPosition } = settings
  const secret = settings.secret ?? derivedSecret(access)
  const start: WebhookStart = { webhook: true, webhook_secret: secret }
  const stopListening = await news?.listen((fileId) => client.poke(fileId))
  const shared = news ? { start, close: async () => stopListening?.() } : null
  if (listen === undefined) return shared
  const wakes: Pick<VoxmuxClient, 'poke'> = {
    poke: (fileId, status) => {
      client.poke(fileId, status)
      // A file on its way interests the process alone that waits for it; how far it is, that one asks for anyway.
      if (status === undefined) news?.tell(fileId).catch((error) => logger.debug({ error }, 'A webhook was not shared'))
    },
  }
  const receiver = createWebhookReceiver({ secret, secretPosition, wakes, logger })
  try {
    const { url } = await receiver.listen(addressOf(listen))
    logger.info({ url }, 'Webhooks are received')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      logger.warn({ listen }, 'Another process receives at the address of the webhooks; the status is asked for')
      return shared
    }
    await stopListening?.()
    throw new UsageError('ERR_WEBHOOK_LISTEN', `Webhooks cannot be received at ${listen}.`, {
      cause,
      remedies: ['Set webhook.listen to an address of this machine and a port above 1023.'],
    })
  }
  return {
    start,
    close: async () => {
      await receiver.close()
      await stopListening?.()
    },
  }
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
