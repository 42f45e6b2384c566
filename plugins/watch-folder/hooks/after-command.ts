import { spawn } from 'node:child_process'
import type { AfterFacts } from './after-facts.js'

const COMMAND_MS = 600_000
/** The variables that a command inherits. None of them is secret. */
const PASSED_ON = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'HOME', 'TMPDIR']

/** Calls a folder's command with status, output, source and preset. @throws Error if it does not end with 0 */
export function runAfterCommand(command: readonly string[], facts: AfterFacts, signal: AbortSignal): Promise<void> {
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
