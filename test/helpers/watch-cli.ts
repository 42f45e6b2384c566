import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { toolVariables } from './loaded-tools/tool-variables.js'
import { CLI_PATH, type CliEvent } from './voxmux-cli.js'

/** A running `voxmux watch`, whose lines are read as they come: it may say millions. */
export interface RunningWatch {
  readonly child: ChildProcess
  /** Address of the dashboard; empty where there is none. */
  readonly url: string
  /** Waits until so many files have ended, each telling how. */
  files(count: number): Promise<readonly CliEvent[]>
  /** Waits for a line of the log. */
  logged(isIt: (entry: Readonly<Record<string, unknown>>) => boolean): Promise<Readonly<Record<string, unknown>>>
  /** Asks it to end, and waits for that. @returns the exit code */
  stop(): Promise<number | null>
}

/** Starts the built command and waits until it watches. */
export async function startWatch(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<RunningWatch> {
  const child = spawn(process.execPath, [CLI_PATH, 'watch', ...args, '--json'], {
    cwd,
    env: { PATH: '/usr/bin:/bin', ...toolVariables(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const files: CliEvent[] = []
  const looks = new Set<(entry: Record<string, unknown>) => void>()
  const tellAll = (entry: Record<string, unknown>) => {
    for (const look of looks) look(entry)
  }
  createInterface(child.stdout).on('line', (line) => {
    const event = JSON.parse(line) as CliEvent
    if (event.event === 'file') files.push(event)
    tellAll(event)
  })
  let said = ''
  createInterface(child.stderr).on('line', (line) => {
    said = `${said.slice(-4000)}\n${line}`
    if (line.startsWith('{')) tellAll(JSON.parse(line) as Record<string, unknown>)
  })
  const next = (isIt: (entry: Record<string, unknown>) => boolean) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const look = (entry: Record<string, unknown>) => {
        if (!isIt(entry)) return
        looks.delete(look)
        resolve(entry)
      }
      looks.add(look)
      void ended.then(() => reject(new Error(`voxmux watch has ended: ${said}`)))
    })
  const { url } = await next(({ event }) => event === 'watching')
  return {
    child,
    url: typeof url === 'string' ? url : '',
    async files(count) {
      while (files.length < count) await next(({ event }) => event === 'file')
      return files
    },
    logged: next,
    async stop() {
      child.kill('SIGTERM')
      const [exitCode] = await ended
      return exitCode
    },
  }
}
