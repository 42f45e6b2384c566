import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { RunningService } from '../../../src/service/index.js'

/** A node of the service in a process of its own, that can be killed. */
export async function nodeProcess(dataDir: string): Promise<{
  readonly service: Pick<RunningService, 'baseUrl' | 'authUrl' | 'tenantId' | 'scope'>
  readonly key: { readonly clientId: string; readonly clientSecret: string }
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}> {
  const script = fileURLToPath(new URL('./node-main.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await firstLine(child)
  return {
    ...JSON.parse(line),
    kill: (signal) =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill(signal)
      }),
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout) createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`The node ended with ${code}.`)))
  })
}
