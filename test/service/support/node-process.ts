import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { RunningService } from '../../../src/service/index.js'
import { joinedProgram } from '../../helpers/system/joined-program.js'

/** A node of the service in a process of its own, that can be killed. */
export async function nodeProcess(
  dataDir: string,
  engine: 'slow' | 'held' | 'mortal' = 'slow',
  store = '',
  leaseMs = 5000,
): Promise<{
  readonly service: Pick<RunningService, 'baseUrl' | 'authUrl' | 'tenantId' | 'scope'>
  readonly key: { readonly clientId: string; readonly clientSecret: string }
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Lets it stand still, or go on. */
  send(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>
}> {
  const script = fileURLToPath(new URL('./node-main.ts', import.meta.url))
  const child = spawn(process.execPath, [joinedProgram(script), dataDir, engine, store, String(leaseMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const gone = once(child, 'exit').then(() => {})
  const line = await firstLine(child)
  return {
    ...JSON.parse(line),
    gone,
    send: (signal) => void child.kill(signal),
    async kill(signal) {
      child.kill(signal)
      await gone
    },
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout) createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`The node ended with ${code}.`)))
  })
}
