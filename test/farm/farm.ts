import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FaultServer } from '../helpers/fault-server.js'
import { joinedProgram } from '../helpers/system/joined-program.js'

/** What the processes of a farm are told. */
export interface FarmSettings {
  /** Address of a PostgreSQL, or path of a SQLite file. */
  readonly store: string
  readonly client: FaultServer['clientOptions']
  /** Shared by all: outputs, and the cache of regenerated voice. */
  readonly folder: string
  readonly concurrency: number
  readonly leaseMs: number
  /** `light`: without ffmpeg. */
  readonly kind: 'light' | 'real'
}

/** A worker of its own process. */
export interface FarmWorker {
  readonly child: ChildProcess
  /** Waits for a line of its output. */
  saying(pattern: RegExp): Promise<void>
  /** As `kill -9`; ends when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>
}

const MAIN = fileURLToPath(new URL('farm-worker-main.ts', import.meta.url))

export function startWorker(settings: FarmSettings): FarmWorker {
  const child = spawn(process.execPath, [joinedProgram(MAIN), JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    // The last lines are enough, and ten thousand jobs say much.
    said = (said + text).slice(-10_000)
    for (const listener of listeners) listener()
  })
  return {
    child,
    saying: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(said)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        child.once('exit', (code) => reject(new Error(`The worker ended with ${code} before it said ${pattern}.`)))
        look()
      }),
    kill: (signal = 'SIGKILL') =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        child.kill(signal)
      }),
  }
}
