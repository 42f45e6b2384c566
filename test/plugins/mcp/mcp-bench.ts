import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { describe } from 'vitest'
import { toolVariables } from '../../helpers/loaded-tools/tool-variables.js'
import { CLI_PATH } from '../../helpers/voxmux-cli.js'

/** The result of a tool, as a client sees it. */
export interface ToolAnswer {
  readonly isError: boolean
  readonly content: readonly { readonly text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields that it reads.
  readonly structuredContent: any
}

interface TaskFacts {
  readonly taskId: string
  readonly status: string
}

/** The client of the SDK, as far as the tests use it. */
export interface McpClient {
  connect(transport: object): Promise<void>
  close(): Promise<void>
  callTool(
    call: { readonly name: string; readonly arguments: object },
    schema?: undefined,
    options?: { readonly onprogress?: (progress: { readonly progress: number; readonly message?: string }) => void },
  ): Promise<ToolAnswer>
  listTools(): Promise<{ readonly tools: readonly { readonly name: string; readonly inputSchema: object }[] }>
  request(request: object, schema: unknown, options?: object): Promise<{ readonly task: TaskFacts }>
  setRequestHandler(
    schema: unknown,
    handler: (request: { readonly params: { readonly message: string } }) => unknown,
  ): void
  sendRootsListChanged(): Promise<void>
  readonly experimental: {
    readonly tasks: {
      getTask(id: string): Promise<TaskFacts>
      getTaskResult(id: string, schema: unknown): Promise<ToolAnswer>
      listTasks(): Promise<{ readonly tasks: readonly TaskFacts[] }>
      cancelTask(id: string): Promise<unknown>
    }
  }
}

export interface ClientSdk {
  readonly Client: new (info: object, options: { readonly capabilities: object }) => McpClient
  readonly StdioClientTransport: new (server: object) => object
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => object
  readonly ListRootsRequestSchema: unknown
  readonly ElicitRequestSchema: unknown
  readonly CreateTaskResultSchema: unknown
  readonly CallToolResultSchema: unknown
}

const NAME: string = '@modelcontextprotocol/sdk'

function hasSdk(): boolean {
  try {
    return existsSync(createRequire(import.meta.url).resolve(`${NAME}/client/index.js`))
  } catch {
    return false
  }
}

/** A suite that needs the package for the protocol, a development dependency. */
export function describeWithMcp(name: string, suite: () => void): void {
  if (!hasSdk()) process.stderr.write(`Skipped: ${name}: ${NAME} is not installed\n`)
  describe.skipIf(!hasSdk())(name, suite)
}

/** The client's side of the package. */
export async function clientSdk(): Promise<ClientSdk> {
  const modules = ['client/index.js', 'client/stdio.js', 'client/streamableHttp.js', 'types.js']
  return Object.assign({}, ...(await Promise.all(modules.map((module) => import(`${NAME}/${module}`)))))
}

export interface AgentOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Folders that the client names as its roots; without, it has none. */
  readonly roots?: () => readonly string[]
  /** What the person responds to each question; without, the client cannot ask. */
  readonly person?: (question: string) => 'accept' | 'decline'
}

/** A client that started `voxmux mcp`. */
export interface Agent {
  readonly client: McpClient
  readonly call: (name: string, args?: object) => Promise<ToolAnswer>
}

/** The command as the SDK's client starts it. */
export function serverOf({ args = [], cwd, env }: AgentOptions): object {
  return {
    command: process.execPath,
    args: [CLI_PATH, 'mcp', ...args],
    cwd,
    env: { PATH: '/usr/bin:/bin', ...toolVariables(), ...env },
    stderr: 'ignore',
  }
}

/** Starts the command as the SDK's client does, over stdio, and connects. Close the client at the end. */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const sdk = await clientSdk()
  const client = newClient(sdk, options)
  const transport = new sdk.StdioClientTransport(serverOf(options))
  await client.connect(transport)
  return { client, call: callerOf(client) }
}

/** A client of the SDK with what the options say it can do. */
export function newClient(sdk: ClientSdk, { roots, person }: Omit<AgentOptions, 'cwd'>): McpClient {
  const capabilities = { ...(roots && { roots: { listChanged: true } }), ...(person && { elicitation: {} }) }
  const client = new sdk.Client({ name: 'test', version: '1' }, { capabilities })
  if (roots)
    client.setRequestHandler(sdk.ListRootsRequestSchema, () => ({
      roots: roots().map((path) => ({ uri: pathToFileURL(path).href })),
    }))
  if (person)
    client.setRequestHandler(sdk.ElicitRequestSchema, ({ params }) => ({ action: person(params.message), content: {} }))
  return client
}

export const callerOf =
  (client: McpClient) =>
  (name: string, args: object = {}): Promise<ToolAnswer> =>
    client.callTool({ name, arguments: args })

/** Waits until a job has ended, and returns its last view. */
export async function endOfJob(
  call: (name: string, args: object) => Promise<ToolAnswer>,
  job: string,
): Promise<ToolAnswer['structuredContent']> {
  for (;;) {
    const { structuredContent } = await call('status', { job, waitSec: 20 })
    if (structuredContent.isEnded !== false) return structuredContent
  }
}
