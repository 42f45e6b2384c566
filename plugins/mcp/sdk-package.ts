import type { IncomingMessage, ServerResponse } from 'node:http'
import { packageMissing } from '../../src/core/optional-package.js'

/** A message of the protocol without its envelope. */
interface Message {
  readonly method: string
  readonly params?: object
}

/** The way back to the client during a request. */
export interface RequestExtra {
  readonly signal: AbortSignal
  readonly _meta?: { readonly progressToken?: string | number } | undefined
  sendRequest(request: Message, resultSchema: unknown, options?: { readonly timeout?: number }): Promise<unknown>
  sendNotification(notification: Message): Promise<void>
}

/** A call of a tool as the client sends it. */
export interface ToolRequest {
  readonly params: { readonly name: string; readonly arguments?: unknown; readonly task?: object | undefined }
}

/** A task as the protocol shows it. */
export interface Task {
  readonly taskId: string
  readonly status: 'working' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  /** Null: the result stays available. */
  readonly ttl: null
  /** ISO 8601. */
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** Milliseconds. */
  readonly pollInterval: number
}

/** The store from which the package responds to `tasks/…`. */
export interface TaskStore {
  createTask(): Promise<never>
  getTask(id: string): Promise<Task | null>
  storeTaskResult(): Promise<never>
  getTaskResult(id: string): Promise<object>
  updateTaskStatus(id: string, status: string): Promise<void>
  listTasks(cursor?: string): Promise<{ readonly tasks: readonly Task[]; readonly nextCursor?: string }>
}

/** One connection to a client. */
export interface ProtocolServer {
  setRequestHandler<R>(schema: unknown, handler: (request: R, extra: RequestExtra) => unknown): void
  setNotificationHandler(schema: unknown, handler: () => void): void
  getClientCapabilities():
    | { readonly roots?: object; readonly elicitation?: { readonly form?: object; readonly url?: object } }
    | undefined
  connect(transport: object): Promise<void>
  close(): Promise<void>
  onclose?: () => void
}

/** A connection over HTTP. */
export interface HttpTransport {
  /** Undefined until the client has initialized the session. */
  readonly sessionId?: string
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** The part of `@modelcontextprotocol/sdk` that voxmux uses. Its own types are absent if it is not installed. */
export interface McpSdk {
  readonly Server: new (
    info: { readonly name: string; readonly version: string },
    options: { readonly capabilities: object; readonly instructions: string; readonly taskStore: TaskStore },
  ) => ProtocolServer
  readonly StdioServerTransport: new () => object
  readonly StreamableHTTPServerTransport: new (options: {
    readonly sessionIdGenerator: () => string
    readonly onsessioninitialized: (id: string) => void
  }) => HttpTransport
  readonly McpError: new (code: number, message: string, data?: unknown) => Error
  readonly CallToolRequestSchema: unknown
  readonly ListToolsRequestSchema: unknown
  readonly ListRootsResultSchema: unknown
  readonly ElicitResultSchema: unknown
  readonly RootsListChangedNotificationSchema: unknown
}

const NAME: string = '@modelcontextprotocol/sdk'

/**
 * Loads the optional package for the Model Context Protocol.
 *
 * @param load imports one of its modules
 * @throws {UsageError} `ERR_MCP_PACKAGE`
 */
export async function loadMcpSdk(load: (module: string) => Promise<object> = (path) => import(path)): Promise<McpSdk> {
  const modules = ['server/index.js', 'server/stdio.js', 'server/streamableHttp.js', 'types.js']
  const loaded = await Promise.all(modules.map((module) => load(`${NAME}/${module}`))).catch(
    packageMissing('ERR_MCP_PACKAGE', '`voxmux mcp` needs', `${NAME}@1`),
  )
  return Object.assign({}, ...loaded) as McpSdk
}
