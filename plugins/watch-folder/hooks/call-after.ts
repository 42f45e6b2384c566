import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import type { WatchAfter } from '../../../src/config/watch-schema.js'
import { withTimeLimit } from '../../../src/core/abort.js'
import { type ErrorReport, thrownMessage } from '../../../src/core/errors.js'
import type { Logger } from '../../../src/core/logger.js'
import { backoffMs, sleep } from '../../../src/core/time.js'

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

const COMMAND_MS = 600_000
/** The variables that a command inherits. None of them is secret. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'HOME', 'TMPDIR']

/** Calls a folder's command with status, output, source and preset. @throws Error if it does not end with 0 */
function runAfterCommand(command: readonly string[], facts: AfterFacts, signal: AbortSignal): Promise<void> {
  const { status, output, source, preset } = facts
  const [program = '', ...first] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...first, status, output ?? '', source, preset], {
      env: { ...inherited(), ...variablesOf(facts) },
      stdio: 'ignore',
      signal,
      timeout: COMMAND_MS,
    })
    child.once('error', reject)
    child.once('exit', (code, killed) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} ended with ${killed ?? `exit code ${code}`}`))
    })
  })
}

function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

function variablesOf({ status, output, source, preset, job, at, error, dashboard, report }: AfterFacts) {
  return {
    ...{ VOXMUX_STATUS: status, VOXMUX_OUTPUT: output ?? '', VOXMUX_SOURCE: source, VOXMUX_PRESET: preset },
    ...{ VOXMUX_JOB: job, VOXMUX_AT: at, VOXMUX_CODE: error?.code ?? '', VOXMUX_MESSAGE: error?.message ?? '' },
    VOXMUX_REMEDIES: (error?.remedies ?? []).join('\n'),
    ...{ VOXMUX_DASHBOARD: dashboard ?? '', VOXMUX_REPORT: report ?? '' },
  }
}

const WEBHOOK_MS = 10_000
/** Marks a key as base64 in Standard Webhooks. */
const KEY_PREFIX = 'whsec_'

/** A webhook that was not accepted. */
class WebhookFault extends Error {
  /** True if a retry may succeed: a network fault, a busy receiver. */
  readonly isTransient: boolean

  constructor(message: string, isTransient: boolean) {
    super(message)
    this.isTransient = isTransient
  }
}

/**
 * Posts the facts as JSON, with the headers of Standard Webhooks (standardwebhooks.com). The path of an address is never
 * in a message, because chat services keep a secret in it.
 *
 * @param secret signs the request; null sends it unsigned
 * @throws {WebhookFault} unless the receiver accepts it with 2xx
 */
async function postAfterWebhook(
  address: string,
  facts: AfterFacts,
  { secret, signal }: { readonly secret: string | null; readonly signal: AbortSignal },
): Promise<void> {
  const { origin } = new URL(address)
  const body = JSON.stringify(facts)
  // A receiver drops an id that it knows, and a retry of the job may end in the same way.
  const id = `${facts.job}-${facts.status}-${Date.parse(facts.at)}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    ...{ 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp },
    ...(secret !== null && { 'webhook-signature': `v1,${signature(secret, `${id}.${timestamp}.${body}`)}` }),
  }
  const response = await withTimeLimit(WEBHOOK_MS, signal, (limited) =>
    fetch(address, { method: 'POST', headers, body, redirect: 'manual', signal: limited }),
  ).catch((fault: unknown) => {
    if (signal.aborted) throw fault
    throw new WebhookFault(`${origin} was not reached (${reasonOf(fault)})`, true)
  })
  // The status says all. A body may be without an end.
  await response.body?.cancel().catch(() => {})
  const { status } = response
  const location = response.headers.get('location')
  if (status >= 300 && status < 400 && location !== null && URL.canParse(location, address)) {
    const target = new URL(location, address).origin
    throw new WebhookFault(
      `${origin} redirects to ${target}, and redirects are not followed: name the new address`,
      false,
    )
  }
  if (!response.ok)
    throw new WebhookFault(
      `${origin} responded with status ${status}`,
      status >= 500 || [408, 425, 429].includes(status),
    )
}

/** HMAC-SHA256 in base64. */
function signature(secret: string, signed: string): string {
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64') : secret
  return createHmac('sha256', key).update(signed).digest('base64')
}

/** The cause behind the `fetch failed` of Node. */
function reasonOf(fault: unknown): string {
  const { cause } = fault as { cause?: NodeJS.ErrnoException }
  return cause?.code ?? thrownMessage(cause ?? fault)
}

/** The facts about an ended job that a command or webhook receives. Paths are absolute. */
export interface AfterFacts {
  readonly status: 'done' | 'skipped' | 'failed' | 'rejected'
  /** Null after a failure. */
  readonly output: string | null
  /** Its present path. */
  readonly source: string
  readonly preset: string
  /** The job's id, which stays the same if the job is retried. */
  readonly job: string
  /** Time of this end, ISO 8601. A retry has another one. */
  readonly at: string
  /** Null after success. The last remedy is how to retry. */
  readonly error: ErrorReport | null
  /** Address of the job on the dashboard; null without a dashboard. */
  readonly dashboard: string | null
  /** The report: `failed/….json` after a failure, the HTML page of `report` after success. Null without one. */
  readonly report: string | null
}
