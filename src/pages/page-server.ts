import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TransientError, toVoxmuxError, UsageError, VoxmuxError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import { isSameSecret } from '../core/same-secret.js'
import type { PageFile } from './page-files.js'
import { refusalOf, servedHosts } from './request-guard.js'
import { sendError, sendText, setSecurityHeaders } from './respond.js'

/** A request that passed the guard, and its response. */
export interface PageExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  /** Groups of the route's pattern. */
  readonly groups: Readonly<Record<string, string>>
}

/** A path and what responds there. A GET changes nothing. */
export interface Route<Parts> {
  readonly method: 'GET' | 'POST'
  readonly pattern: RegExp
  /** True if the route reads the body of its requests; otherwise the body is discarded. */
  readonly readsBody?: boolean
  readonly answer: (exchange: PageExchange & Parts) => void | Promise<void>
}

export interface PageServerOptions<Parts> {
  /** Its name in messages, such as `dashboard`. */
  readonly name: string
  /** The routes besides the page and its files. */
  readonly routes: readonly Route<Parts>[]
  /** Given to each route. */
  readonly parts: Parts
  readonly files: ReadonlyMap<string, PageFile>
  /** Secret of this start. The page contains it, and each change needs it. */
  readonly token: string
  /** True if reading also needs the token: it is then the first part of each path, except for the files of the page. */
  readonly guardsReading?: boolean
  /** Longest time until a request has arrived whole, in milliseconds; 0 for none. Default 15 seconds. */
  readonly requestMs?: number
  /** Default 127.0.0.1: only this machine reaches it. */
  readonly host?: string | undefined
  /** 0 picks a free one. */
  readonly port: number
  /** Further values of the Host header: the name of a reverse proxy, with its port if it has one. */
  readonly hosts?: readonly string[]
  readonly logger?: Logger
}

export interface PageServer {
  /** Address of the page, with a slash at its end. */
  readonly url: string
  close(): Promise<void>
}

const HEADERS_MS = 15_000
const MOST_CONNECTIONS = 256
/** Base for reading a request's path. Only the path counts. */
const LOCAL = 'http://localhost'

/** Serves a page of this machine behind the guard. @throws {UsageError} `ERR_PORT_TAKEN` if it cannot bind */
export async function startPageServer<Parts>(options: PageServerOptions<Parts>): Promise<PageServer> {
  const { name, host = '127.0.0.1', token, guardsReading, logger = silentLogger } = options
  const server = createServer({ requestTimeout: options.requestMs ?? HEADERS_MS, headersTimeout: HEADERS_MS })
  server.maxConnections = MOST_CONNECTIONS
  const port = await listen(server, name, host, options.port)
  const isServed = servedHosts(host, port, options.hosts ?? [])
  server.on('request', (request, response) => {
    answer(request, response, options, isServed).catch((fault: unknown) => {
      logger.warn({ path: pathForLog(request), cause: toVoxmuxError(fault).message }, 'A request failed.')
      if (response.headersSent) response.destroy()
      else if (fault instanceof TransientError) sendError(response, 503, fault.message)
      else if (fault instanceof VoxmuxError) sendError(response, 400, fault.message)
      else sendError(response, 500, 'The request failed. The log says why.')
    })
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/${guardsReading ? `${token}/` : ''}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** The path without the query and without the token. */
function pathForLog({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]?.replace(/^\/[\w-]{43}\//, '/') ?? ''
}

async function answer<Parts>(
  request: IncomingMessage,
  response: ServerResponse,
  { routes, parts, files, token, guardsReading = false }: PageServerOptions<Parts>,
  isServed: (host: string) => boolean,
): Promise<void> {
  setSecurityHeaders(response)
  const { method = '', headers } = request
  const refuse = (status: number, message: string) => {
    request.resume()
    // A person opened an old address, or a wrong one.
    if (headers.accept?.includes('text/html')) sendText(response, status, 'text/plain; charset=utf-8', `${message}\n`)
    else sendError(response, status, message)
  }
  const refusal = refusalOf({ method, headers }, { isServed, token })
  if (refusal) return refuse(refusal.status, refusal.message)
  if (!URL.canParse(request.url ?? '', LOCAL)) return refuse(400, 'The address of the request is not valid.')
  const { pathname, searchParams: query } = new URL(request.url ?? '', LOCAL)
  const isFile = pathname.startsWith('/assets/')
  const [, first = '', rest = ''] = /^\/([^/]*)(\/.*)$/.exec(pathname) ?? []
  if (guardsReading && !isFile && !isSameSecret(first, token))
    return refuse(403, 'The token is missing or of an earlier start: open the address that the command printed.')
  const path = guardsReading && !isFile ? rest : pathname
  const all: readonly Route<Parts>[] = [...pageRoutes<Parts>(files, token), ...routes]
  const matching = all.filter(({ pattern }) => pattern.test(path))
  const route = matching.find((one) => one.method === (method === 'HEAD' ? 'GET' : method))
  if (!route)
    return matching.length > 0
      ? refuse(405, 'This page does not accept this method.')
      : refuse(404, 'This page does not exist.')
  if (!route.readsBody) request.resume()
  const groups = route.pattern.exec(path)?.groups ?? {}
  await route.answer({ ...parts, request, response, query, groups })
}

/** The page with the token of this start, and its files. A person who may read the page may use its buttons. */
function pageRoutes<Parts>(files: ReadonlyMap<string, PageFile>, token: string): readonly Route<Parts>[] {
  return [
    {
      method: 'GET',
      pattern: /^\/$/,
      answer: ({ response }) => {
        const page = files.get('index.html')
        if (page) sendText(response, 200, page.type, page.text.replace('{{token}}', token))
      },
    },
    {
      method: 'GET',
      pattern: /^\/assets\/(?<name>[a-z-]+\.(?:css|js|svg))$/,
      answer: ({ response, groups }) => {
        const file = files.get(groups.name ?? '')
        if (!file) return sendError(response, 404, 'This file does not exist.')
        response.setHeader('cache-control', 'no-cache')
        sendText(response, 200, file.type, file.text)
      },
    },
  ]
}

async function listen(server: Server, name: string, host: string, port: number): Promise<number> {
  await once(server.listen(port, host), 'listening').catch((cause: NodeJS.ErrnoException) => {
    const why = { EADDRINUSE: 'the port is already in use', EACCES: 'ports below 1024 need more rights' }[
      cause.code ?? ''
    ]
    throw new UsageError(
      'ERR_PORT_TAKEN',
      `The ${name} cannot listen at ${host}, port ${port}: ${why ?? cause.code ?? cause.message}.`,
      {
        cause,
        remedies: ['Choose another port with --port; 0 takes any that is free.'],
      },
    )
  })
  return (server.address() as AddressInfo).port
}
