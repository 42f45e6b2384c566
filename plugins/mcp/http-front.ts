import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../../src/core/errors.js'
import type { Desk } from './desk.js'
import type { HttpTransport, McpSdk, ProtocolServer } from './sdk-package.js'
import { openMcpSession } from './session.js'

/** The address of a server for clients over HTTP. */
export interface HttpFront {
  readonly url: string
  /** Every request must bear it. It stays the same until the file `mcp-key` in the state folder is deleted. */
  readonly token: string
  close(): Promise<void>
}

/** Number of sessions at once. Beyond it, the oldest one ends: clients that die do not end theirs. */
const MOST_SESSIONS = 100

const PATH = '/mcp'

interface Session {
  readonly server: ProtocolServer
  readonly transport: HttpTransport
}

/**
 * Listens on loopback. Refuses requests without the token, and those that a web page could send to this computer.
 *
 * @throws {UsageError} `ERR_MCP_PORT` if the port is taken
 */
export async function openHttpFront(sdk: McpSdk, desk: Desk, port: number): Promise<HttpFront> {
  const token = desk.key.sign('http')
  const sessions = new Map<string, Session>()
  const http = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      desk.context.logger.warn({ cause: error }, 'A request of an agent failed.')
      refuse(response, 500, 'The request failed.')
    })
  })
  await once(http.listen(port, '127.0.0.1'), 'listening').catch((cause: unknown) => {
    throw portTaken(port, cause)
  })
  const { port: own } = http.address() as AddressInfo
  const names = [`127.0.0.1:${own}`, `localhost:${own}`]
  return {
    url: `http://127.0.0.1:${own}${PATH}`,
    token,
    close: async () => {
      await Promise.all([...sessions.values()].map(({ server }) => server.close()))
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization } = request.headers
    if (isForeign(request, names)) return refuse(response, 403, 'This address is for programs of this computer.')
    const given = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
    if (given === undefined || !desk.key.isSigned('http', given)) {
      response.setHeader('www-authenticate', 'Bearer')
      return refuse(response, 401, 'The token is missing or wrong. `voxmux mcp --http` prints it.')
    }
    if (request.url?.split('?')[0] !== PATH) return refuse(response, 404, `The address is ${PATH}.`)
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && !known) return refuse(response, 404, 'The session has ended. Open a new one.')
    await (known ?? (await newSession(response))).transport.handleRequest(request, response)
  }

  /** A session counts only when its client has initialized it. Any other request ends it. */
  async function newSession(response: ServerResponse): Promise<Session> {
    const server = openMcpSession(sdk, desk)
    const transport = new sdk.StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { server, transport })
        server.onclose = () => sessions.delete(id)
        const [oldest] = sessions.values()
        if (sessions.size > MOST_SESSIONS) void oldest?.server.close()
      },
    })
    response.once('close', () => {
      if (transport.sessionId === undefined) void server.close()
    })
    await server.connect(transport)
    return { server, transport }
  }
}

/** True for a request under another name of this computer, or of a web page. */
function isForeign({ headers: { host, origin } }: IncomingMessage, names: readonly string[]): boolean {
  if (host === undefined || !names.includes(host)) return true
  return origin !== undefined && !names.some((name) => origin === `http://${name}`)
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.end()
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }))
}

function portTaken(port: number, cause: unknown): UsageError {
  return new UsageError('ERR_MCP_PORT', `The server cannot listen on port ${port}.`, {
    cause,
    remedies: ['Choose another port with --port, or 0 for any free one.'],
  })
}
