import { spawn } from 'node:child_process'
import type { WatchAfter } from '../../../src/config/watch-schema.js'

/** The facts that a command or webhook receives. */
export interface AfterFacts {
  readonly status: 'done' | 'skipped' | 'failed' | 'rejected'
  /** Absolute; null if there is none. */
  readonly output: string | null
  /** Absolute, its present path. */
  readonly source: string
  readonly preset: string
  /** The job's id, which stays the same if the call is repeated after a crash. */
  readonly job: string
}

/** Time limit of a command or webhook. */
const COMMAND_MS = 600_000
const WEBHOOK_MS = 30_000
/** The variables that a command inherits. None of them is secret. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'HOME', 'TMPDIR']

/**
 * Calls a folder's command and webhook, at least once per file: after a crash it calls them again.
 *
 * @throws Error if one fails, to be tried again
 */
export async function callAfter(after: WatchAfter, facts: AfterFacts, signal: AbortSignal): Promise<void> {
  if (after.command) await runCommand(after.command, facts, signal)
  if (after.webhook) await post(after.webhook, facts, signal)
}

function runCommand(command: readonly string[], facts: AfterFacts, signal: AbortSignal): Promise<void> {
  const { status, output, source, preset, job } = facts
  const [program = '', ...first] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...first, status, output ?? '', source, preset], {
      env: {
        ...Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
        ...{ VOXMUX_STATUS: status, VOXMUX_OUTPUT: output ?? '', VOXMUX_SOURCE: source, VOXMUX_PRESET: preset },
        VOXMUX_JOB: job,
      },
      stdio: 'ignore',
      signal,
      timeout: COMMAND_MS,
    })
    child.once('error', reject)
    child.once('exit', (code, killed) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} ended with ${killed ?? `exit code ${code}`}.`))
    })
  })
}

async function post(address: string, { job, ...facts }: AfterFacts, signal: AbortSignal): Promise<void> {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `${job}-${facts.status}` },
    body: JSON.stringify({ ...facts, job }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(WEBHOOK_MS)]),
  })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${new URL(address).host} answered ${response.status}.`)
}
