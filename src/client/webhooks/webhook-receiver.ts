import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { secretPositionSchema, type WebhookBody } from '../../contract/index.js'
import { thrownMessage } from '../../core/errors.js'
import { type Logger, silentLogger } from '../../core/logger.js'
import type { FileStatus } from '../file-status.js'
import { DeliveryOrder, statusOnTheWay } from './delivery-order.js'
import { readWebhook } from './webhook-request.js'

const webhookReceiverOptionsSchema = z.strictObject({
  secret: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Secret that the sender must send. If omitted, all senders are accepted.' }),
  secretPosition: secretPositionSchema
    .optional()
    .meta({ description: 'Required position of the secret. If omitted, any position is accepted.' }),
  maxBodyBytes: z.int().min(1).default(65_536).meta({ description: 'Largest accepted body, in bytes.' }),
})

export interface WebhookReceiverOptions extends z.input<typeof webhookReceiverOptionsSchema> {
  /** Notified of each event: a `VoxmuxClient`, whose `waitFor` then ends sooner. */
  readonly wakes?: { notify(fileId: string, status?: FileStatus): void } | undefined
  /** Called with each event once, in order per file. If it throws, the sender retries. */
  readonly onEvent?: ((event: WebhookBody) => void | Promise<void>) | undefined
  readonly logger?: Logger | undefined
}

export interface WebhookReceiver {
  /** A listener for any node:http server: `http.createServer(receiver.handle)`. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Opens its own server (`port` 0: any free one). */
  listen(options?: { host?: string; port?: number }): Promise<{ readonly url: string }>
  /** Closes the server that {@link listen} opened. */
  close(): Promise<void>
}

/**
 * Receives the service's webhooks: POST, PUT and GET, with the secret in header, query or body, compared in constant
 * time. Acknowledges and ignores messages that repeat or arrive out of order. Responds with 204, or 400 (not a
 * webhook), 401 (wrong secret), 405, 413 (body too large), 500 (`onEvent` failed: send again).
 */
export function createWebhookReceiver(options: WebhookReceiverOptions = {}): WebhookReceiver {
  const { wakes, onEvent, logger = silentLogger, ...values } = options
  const { secret, secretPosition, maxBodyBytes } = webhookReceiverOptionsSchema.parse(values)
  const order = new DeliveryOrder()
  const turns = new FileTurns()
  let server: Server | undefined

  async function take(event: WebhookBody): Promise<void> {
    const { message } = event
    if (!order.isNews(event)) return
    // Remove the secret, so that a listener that logs its events does not log it.
    const { secret: _secret, ...rest } = event
    await onEvent?.(rest)
    order.remember(event)
    wakes?.notify(message.fileId, statusOnTheWay(message))
  }

  async function answer(request: IncomingMessage): Promise<number> {
    const reading = await readWebhook(request, { secret, secretPosition, maxBodyBytes })
    if ('refused' in reading) {
      logger.warn({ status: reading.refused, method: request.method }, 'A webhook was refused')
      return reading.refused
    }
    const { body } = reading
    await turns.take(body.message.fileId, () => take(body))
    return 204
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    answer(request)
      .catch((thrown: unknown) => {
        logger.error({ fault: thrownMessage(thrown) }, 'A webhook could not be handled')
        return 500
      })
      .then((status) => {
        // Unread bytes must not be taken for the next request of this connection.
        const headers = request.readableEnded || request.method === 'GET' ? {} : { connection: 'close' }
        response.writeHead(status, headers).end()
      })
  }

  return {
    handle,
    async listen({ host = '127.0.0.1', port = 0 } = {}) {
      const opened = createServer(handle)
      opened.requestTimeout = 10_000
      server = opened
      return { url: await listenAt(opened, host, port) }
    },
    async close() {
      const closing = server
      server = undefined
      if (!closing) return
      closing.closeAllConnections()
      await new Promise((resolve) => closing.close(resolve))
    },
  }
}

/** Handles the events of a file one after the other, even if one failed: two could overtake each other. */
class FileTurns {
  readonly #last = new Map<string, Promise<void>>()

  async take(fileId: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(fileId) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(work)
    this.#last.set(fileId, turn)
    try {
      await turn
    } finally {
      if (this.#last.get(fileId) === turn) this.#last.delete(fileId)
    }
  }
}

async function listenAt(server: Server, host: string, port: number): Promise<string> {
  await once(server.listen(port, host), 'listening')
  const bound = server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}/`
}
