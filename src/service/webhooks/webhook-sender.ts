import { randomUUID } from 'node:crypto'
import type { Logger } from '../../core/logger.js'
import { backoffMs } from '../../core/time.js'
import { PrivateAddressError } from '../download/address-guard.js'
import { guardedRequest } from '../download/guarded-request.js'
import type { ServiceSettings } from '../service-settings.js'
import type { DeliveryLog } from './delivery-log.js'
import type { Outbox, OutgoingEvent } from './outbox.js'
import { type WebhookTarget, type WebhookTargets, webhookRequest } from './webhook-target.js'

/** Deliveries under way at once on this node. */
const PARALLEL = 16

export interface WebhookSenderOptions {
  readonly outbox: Outbox
  readonly targets: WebhookTargets
  readonly log: DeliveryLog
  readonly settings: ServiceSettings['webhooks']
  readonly allowPrivateUrls: boolean
  /** `http://127.0.0.1:PORT`: receivers that voxmux itself opened, exempt from the address guard. */
  readonly ownReceivers: () => readonly string[]
  readonly logger: Logger
}

/** Delivers queued events at least once, in order within a file; retries with back-off and in the end gives up. */
export class WebhookSender {
  private readonly owner = randomUUID()
  private readonly stopping = new AbortController()
  private readonly underWay = new Set<Promise<void>>()
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly options: WebhookSenderOptions) {}

  start(): void {
    this.timer = setInterval(() => this.sendDue(), this.options.settings.pollMs)
  }

  /** Takes no more events and gives back those under way. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    this.stopping.abort()
    await Promise.all(this.underWay)
  }

  private sendDue(): void {
    if (this.stopping.signal.aborted) return
    const { outbox, settings, logger } = this.options
    try {
      // Longer than a delivery can take: a lease that runs out is that of a dead node.
      const events = outbox.claim(this.owner, settings.timeoutMs * 2 + 10_000, PARALLEL - this.underWay.size)
      for (const event of events) this.track(this.deliver(event))
    } catch (error) {
      logger.warn({ err: error }, 'The webhooks that are due cannot be read; tried again.')
    }
  }

  private track(delivery: Promise<void>): void {
    const settled = delivery
      .catch((error: unknown) => this.options.logger.warn({ err: error }, 'A webhook could not be recorded.'))
      .finally(() => {
        this.underWay.delete(settled)
        // The next event of the same file need not wait for the clock.
        this.sendDue()
      })
    this.underWay.add(settled)
  }

  private async deliver(event: OutgoingEvent): Promise<void> {
    const { outbox, targets, log, settings } = this.options
    const target = targets.of(event.userId)
    if (!target) {
      log.add(event, target, 'given-up', 'No webhook address is set any more.')
      outbox.delivered(event.id)
      return
    }
    const fault = await this.send(event, target)
    if (fault === undefined) {
      log.add(event, target, 'delivered', 'Acknowledged.')
      outbox.delivered(event.id)
    } else if (this.stopping.signal.aborted) outbox.release(event.id)
    else if (event.attempt >= settings.attempts || fault.final) {
      log.add(event, target, 'given-up', fault.reason)
      outbox.delivered(event.id)
    } else {
      log.add(event, target, 'failed', fault.reason)
      outbox.postpone(event.id, Date.now() + backoffMs(event.attempt - 1, settings.baseDelayMs, settings.maxDelayMs))
    }
  }

  /** @returns undefined when the receiver acknowledged with 2xx */
  private async send(event: OutgoingEvent, target: WebhookTarget): Promise<DeliveryFault | undefined> {
    const { settings, allowPrivateUrls, ownReceivers } = this.options
    try {
      const request = webhookRequest(target, event.body, event.secret ?? target.secret)
      const answer = await guardedRequest(request.url, {
        ...request,
        allowPrivate: allowPrivateUrls || ownReceivers().includes(request.url.origin),
        idleTimeoutMs: settings.timeoutMs,
        signal: AbortSignal.any([this.stopping.signal, AbortSignal.timeout(settings.timeoutMs)]),
      })
      const status = answer.statusCode ?? 0
      answer.destroy()
      return status >= 200 && status < 300 ? undefined : { reason: `The receiver answered ${status}.`, final: false }
    } catch (error) {
      return { reason: faultReason(error), final: error instanceof PrivateAddressError }
    }
  }
}

interface DeliveryFault {
  readonly reason: string
  /** True where trying again cannot help. */
  readonly final: boolean
}

function faultReason(error: unknown): string {
  if (!(error instanceof Error)) return 'The receiver could not be reached.'
  const code = (error as NodeJS.ErrnoException).code
  if (error instanceof PrivateAddressError) return error.message
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'The receiver did not answer in time.'
  return `The receiver could not be reached (${code ?? error.name}).`
}
