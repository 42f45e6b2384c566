import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { toolVariables } from './loaded-tools/tool-variables.js'

/** The built command: what a person runs. */
export const CLI_PATH = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))

/** How a run of the command ended, and all it said. */
export interface CliResult {
  /** Null where a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** An event of `--json`. */
export type CliEvent = { readonly event: string } & Readonly<Record<string, unknown>>

export interface CliOptions {
  readonly cwd: string
  /** Everything the command sees besides a minimal PATH: no HOME, nothing of the test's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** A program and its arguments that run the command in turn (`unshare …`, `prlimit …`). */
  readonly through?: readonly string[]
}

/** A running command, to be interrupted or killed. */
export interface RunningCli {
  readonly child: ChildProcess
  readonly ended: Promise<CliResult>
  /** Waits until what it printed so far (both channels) matches. Rejects where it ends without. */
  readonly until: (pattern: RegExp) => Promise<void>
  /** What it printed so far (both channels). */
  readonly said: () => string
}

/** Runs the command to its end. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).ended
}

/** Starts the command. */
export function startCli(args: readonly string[], { cwd, env = {}, through = [] }: CliOptions): RunningCli {
  if (!existsSync(CLI_PATH)) throw new Error(`${CLI_PATH} is missing: run \`npm run build\` first.`)
  const [program = '', ...rest] = [...through, process.execPath, CLI_PATH, ...args]
  const child = spawn(program, rest, {
    cwd,
    env: { PATH: '/usr/bin:/bin', ...toolVariables(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  const all = () => said.stdout + said.stderr
  const listeners = new Set<() => void>()
  for (const channel of ['stdout', 'stderr'] as const) {
    child[channel].setEncoding('utf8').on('data', (text: string) => {
      said[channel] += text
      for (const listener of listeners) listener()
    })
  }
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal, ...said }))
  })
  const until = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!pattern.test(all())) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      ended.then(() => reject(new Error(`It ended without saying ${pattern}:\n${all()}`)), reject)
      look()
    })
  return { child, ended, until, said: all }
}

/**
 * The events that `--json` printed.
 *
 * @throws Error where a line of stdout is no event
 */
export function eventsOf({ stdout }: CliResult): readonly CliEvent[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const parsed: unknown = JSON.parse(line)
      if (typeof parsed === 'object' && parsed !== null && 'event' in parsed) return parsed as CliEvent
      throw new Error(`Not an event: ${line}`)
    })
}
