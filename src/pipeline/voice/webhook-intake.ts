import { createHmac } from 'node:crypto'
import { createWebhookReceiver, type VoxmuxClient } from '../../client/index.js'
import type { ServiceAccess, WebhookSettings } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import type { FileNews } from '../../ledger/index.js'

/** Webhook settings of startProcess, so that its events arrive here. */
export interface WebhookStart {
  readonly webhook: true
  /** Overrides the secret of the portal. */
  readonly webhook_secret: string
}

/** An open receiver that wakes a client. */
export interface WebhookIntake {
  readonly start: WebhookStart
  close(): Promise<void>
}

interface WebhookIntakeOptions {
  readonly settings: WebhookSettings
  readonly access: Pick<ServiceAccess, 'clientId' | 'clientSecret'>
  readonly client: VoxmuxClient
  /** Part of a shared store. One receiver then serves all machines. */
  readonly news?: FileNews | undefined
  readonly logger: Logger
}

/**
 * Receives the webhooks of a remote service. They only speed up what polling finds anyway. If another process has the
 * port, this one continues without them.
 *
 * @throws UsageError `ERR_WEBHOOK_LISTEN` for an address on which this machine cannot listen
 */
export async function openWebhookIntake(options: WebhookIntakeOptions): Promise<WebhookIntake | null> {
  const { settings, access, client, news, logger } = options
  const { listen, secretPosition } = settings
  const secret = settings.secret ?? derivedSecret(access)
  const start: WebhookStart = { webhook: true, webhook_secret: secret }
  const stopListening = await news?.listen((fileId) => client.notify(fileId))
  const shared = news ? { start, close: async () => stopListening?.() } : null
  if (listen === undefined) return shared
  const wakes: Pick<VoxmuxClient, 'notify'> = {
    notify: (fileId, status) => {
      client.notify(fileId, status)
      // A file in progress concerns only the process that waits for it, which polls the progress anyway.
      if (status === undefined) news?.tell(fileId).catch((error) => logger.debug({ error }, 'A webhook was not shared'))
    },
  }
  const receiver = createWebhookReceiver({ secret, secretPosition, wakes, logger })
  try {
    const { url } = await receiver.listen(addressOf(listen))
    logger.info({ url }, 'Receiving webhooks')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      logger.warn({ listen }, 'Another process receives the webhooks at this address; polling the status instead')
      return shared
    }
    await stopListening?.()
    throw new UsageError('ERR_WEBHOOK_LISTEN', `voxmux cannot listen for webhooks on ${listen}.`, {
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

/** The same in every process with this key, so that one that attaches after a crash understands the events. */
function derivedSecret({ clientId, clientSecret }: WebhookIntakeOptions['access']): string {
  return createHmac('sha256', clientSecret).update(`voxmux webhook ${clientId}`).digest('base64url')
}

/** @param listen `host:port` or `[host]:port` */
function addressOf(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':')
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) }
}
