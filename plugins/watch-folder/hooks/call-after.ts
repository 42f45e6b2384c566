import type { WatchAfter } from '../../../src/config/watch-schema.js'
import type { Logger } from '../../../src/core/logger.js'
import { thrownMessage } from '../../../src/core/thrown-message.js'
import { backoffMs, sleep } from '../../../src/core/time.js'
import { runAfterCommand } from './after-command.js'
import type { AfterFacts } from './after-facts.js'
import { postAfterWebhook, WebhookFault } from './after-webhook.js'

interface CallAfterOptions {
  /** Signs webhooks; null sends them unsigned. */
  readonly secret: string | null
  readonly signal: AbortSignal
  readonly logger: Logger
}

/** Tries of a command or webhook. Their job keeps its slot meanwhile, so they stay within seconds. */
const TRIES = 4
const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 4000

/**
 * Calls a folder's command and webhook, at least once per file: after a crash it calls them again. One that stays
 * unreachable is named in the log, and affects neither the other nor the file.
 *
 * @throws only if the signal fires
 */
export async function callAfter(after: WatchAfter, facts: AfterFacts, options: CallAfterOptions): Promise<void> {
  const { secret, signal, logger } = options
  const { command, webhook } = after
  const { job, source, status } = facts
  const call = async (key: keyof WatchAfter, part: () => Promise<void>) => {
    const fault = await faultOf(part, signal)
    if (fault === null) return logger.info({ job, source, status }, `ran after.${key}`)
    const remedies = [`Check after.${key} of the folder in the configuration. The file is not affected.`]
    logger.warn({ job, source, remedies }, `after.${key} failed for ${source}: ${fault}.`)
  }
  await Promise.all([
    command && call('command', () => runAfterCommand(command, facts, signal)),
    webhook && call('webhook', () => postAfterWebhook(webhook, facts, { secret, signal })),
  ])
}

/** The fault of the last try; null if one succeeded. */
async function faultOf(part: () => Promise<void>, signal: AbortSignal): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      await part()
      return null
    } catch (fault) {
      if (signal.aborted) throw fault
      const isFinal = fault instanceof WebhookFault && !fault.isTransient
      if (isFinal || attempt === TRIES) return thrownMessage(fault)
      await sleep(backoffMs(attempt, FIRST_DELAY_MS, LONGEST_DELAY_MS), signal)
    }
  }
}
