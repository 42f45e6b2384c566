import { withTimeLimit } from '../../core/abort.js'
import { guardedRequest, PrivateAddressError } from '../../core/address-guard.js'
import type { Logger } from '../../core/logger.js'
import { redactUrl } from '../../core/redact.js'
import { backoffMs } from '../../core/time.js'
import type { ServiceSettings } from '../service-settings.js'
import { newLeaseOwner } from './lease-owner.js'
import type { Outbox, OutgoingEvent, Settlement } from './outbox.js'
import { type WebhookTarget, type WebhookTargets, webhookRequest } from './webhook-target.js'

/** Simultaneous deliveries of this node. */
const PARALLEL = 16

interface WebhookSenderOptions {
  readonly outbox: Outbox
  readonly targets: WebhookTargets
  readonly settings: ServiceSettings['webhooks']
  readonly allowPrivateUrls: boolean
  readonly logger: Logger
}

/** Delivers queued events at least once, in order within a file. Retries with back-off, then drops the event. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #owner = newLeaseOwner()
  readonly #stopping = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #claiming: Promise<void> | undefined
  #wanted = false

  constructor(options: WebhookSenderOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#sendDue(), this.#options.settings.pollMs)
  }

  /** Claims no more events and releases those in delivery. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#claiming
    await Promise.all(this.#underWay)
  }

  /** Runs one claim at a time. A call during a claim runs another one afterwards. */
  #sendDue(): void {
    this.#wanted = true
    this.#claiming ??= this.#claimWanted().finally(() => {
      this.#claiming = undefined
    })
  }

  async #claimWanted(): Promise<void> {
    const { outbox, settings, logger } = this.#options
    while (this.#wanted && !this.#stopping.signal.aborted) {
      this.#wanted = false
      try {
        // Longer than a delivery can take: only a dead node lets a lease expire.
        const leaseMs = settings.timeoutMs * 2 + 10_000
        const events = await outbox.claim(this.#owner, leaseMs, PARALLEL - this.#underWay.size)
        for (const event of events) this.#track(this.#deliver(event))
      } catch (error) {
        logger.warn({ err: error }, 'The due webhooks could not be read. The next poll retries.')
      }
    }
  }

  #track(delivery: Promise<void>): void {
    const settled = delivery
      .catch((error: unknown) =>
        this.#options.logger.warn({ err: error }, 'The result of a webhook delivery could not be recorded.'),
      )
      .finally(() => {
        this.#underWay.delete(settled)
        // The next event of the same file need not wait for the next poll.
        this.#sendDue()
      })
    this.#underWay.add(settled)
  }

  async #deliver(event: OutgoingEvent): Promise<void> {
    const { outbox, targets, settings } = this.#options
    const target = await targets.of(event.userId)
    const settle = (settlement: Settlement, detail: string) =>
      outbox.settle(event, settlement, {
        fileId: event.fileId,
        type: event.body.type,
        status: event.body.message.status,
        attempt: event.attempt,
        method: target?.method ?? '',
        url: target ? redactUrl(target.url) : '',
        outcome: settlement.outcome,
        detail,
      })
    if (!target) return settle({ outcome: 'given-up' }, 'The webhook address was removed.')
    const fault = await this.#send(event, target)
    if (fault === undefined) return settle({ outcome: 'delivered' }, 'Acknowledged.')
    if (this.#stopping.signal.aborted) return outbox.release(event)
    if (event.attempt >= settings.attempts || fault.final) return settle({ outcome: 'given-up' }, fault.reason)
    const againInMs = backoffMs(event.attempt - 1, settings.baseDelayMs, settings.maxDelayMs)
    return settle({ outcome: 'failed', againInMs }, fault.reason)
  }

  /** @returns undefined if the receiver acknowledged with 2xx, else the fault, which is final if a retry cannot help */
  async #send(event: OutgoingEvent, target: WebhookTarget) {
    const { settings, allowPrivateUrls } = this.#options
    try {
      const request = webhookRequest(target, event.body, event.secret ?? target.secret)
      const answer = await withTimeLimit(settings.timeoutMs, this.#stopping.signal, (signal) =>
        guardedRequest(request.url, {
          ...request,
          allowPrivate: allowPrivateUrls,
          idleTimeoutMs: settings.timeoutMs,
          signal,
        }),
      )
      const status = answer.statusCode ?? 0
      answer.destroy()
      return status >= 200 && status < 300
        ? undefined
        : { reason: `The receiver responded with status ${status}.`, final: false }
    } catch (error) {
      return { reason: faultReason(error), final: error instanceof PrivateAddressError }
    }
  }
}

function faultReason(error: unknown): string {
  if (!(error instanceof Error)) return 'The receiver could not be reached.'
  const code = (error as NodeJS.ErrnoException).code
  if (error instanceof PrivateAddressError) return error.message
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'The receiver did not respond in time.'
  return `The receiver could not be reached (${code ?? error.name}).`
}
