import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type AgentOptions, serverOf, type ToolAnswer } from './mcp-bench.js'

const CLIENT = fileURLToPath(new URL('client-process.mjs', import.meta.url))

interface Task {
  readonly taskId: string
  readonly status: string
}

/** A client in a process of its own, and the server that it started. */
export interface KillableAgent {
  readonly tool: (name: string, args: object) => Promise<ToolAnswer>
  readonly runTask: (args: object) => Promise<{ readonly task: Task }>
  readonly getTask: (id: string) => Promise<Task>
  readonly getTaskResult: (id: string) => Promise<ToolAnswer>
  readonly cancelTask: (id: string) => Promise<Task>
  /** kill -9 of one of the two. */
  readonly kill: (which: 'client' | 'server') => void
  /** Ends both, and resolves when the client has ended. */
  readonly close: () => Promise<void>
}

/** Starts both, and connects them. Calls go one after the other. */
export async function startKillableAgent(options: AgentOptions): Promise<KillableAgent> {
  const child = spawn(process.execPath, [CLIENT, JSON.stringify(serverOf(options))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const tell = (line: object) => child.stdin.write(`${JSON.stringify(line)}\n`)
  let take: (line: { readonly result?: unknown; readonly error?: Error }) => void = () => {}
  const server = new Promise<number>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text)
      if (line.server) resolve(line.server)
      else if (line.question) tell({ action: options.person?.(line.question) ?? 'decline' })
      else take(line)
    })
  })
  const pid = await Promise.race([server, ended.then(() => Promise.reject(new Error('The client ended.')))])
  const caller =
    (call: string) =>
    (...args: readonly unknown[]) => {
      tell({ call, args })
      // biome-ignore lint/suspicious/noExplicitAny: each call names its result.
      return new Promise<any>((resolve, reject) => {
        take = ({ result, error }) => (error ? reject(Object.assign(new Error(error.message), error)) : resolve(result))
      })
    }
  return {
    ...{ tool: caller('tool'), runTask: caller('runTask'), getTask: caller('getTask') },
    ...{ getTaskResult: caller('getTaskResult'), cancelTask: caller('cancelTask') },
    kill: (which) => (which === 'client' ? child.kill('SIGKILL') : process.kill(pid, 'SIGKILL')),
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}
