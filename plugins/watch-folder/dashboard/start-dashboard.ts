import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TransientError, toVoxmuxError, UsageError } from '../../../src/core/errors.js'
import { type Logger, silentLogger } from '../../../src/core/logger.js'
import { ComparisonStore } from './comparison-store.js'
import type { DashboardParts } from './dashboard-exchange.js'
import { LiveFeed } from './live-feed.js'
import type { OperatorView } from './operator-view.js'
import { readPageFiles } from './page-files.js'
import { ProgressBoard } from './progress-board.js'
import { allowedHosts, refusalOf } from './request-guard.js'
import { sendError, setSecurityHeaders } from './respond.js'
import { ROUTES } from './routes.js'

export interface DashboardOptions {
  readonly view: OperatorView
  readonly metrics: DashboardParts['metrics']
  /** Folder for players and pictures, created when it is needed. */
  readonly comparisonFolder: string
  /** Default 127.0.0.1: only this machine reaches it. */
  readonly host?: string
  /** 0 picks a free one. */
  readonly port: number
  /** Further values of the Host header: the name of a reverse proxy, with its port if it has one. */
  readonly hosts?: readonly string[]
  readonly logger?: Logger
}

export interface Dashboard {
  /** Address of the page, with a slash at its end. */
  readonly url: string
  close(): Promise<void>
}

/** Longest time until a request has arrived whole. */
const REQUEST_MS = 15_000
const MOST_CONNECTIONS = 256
/** Base for reading a request's path. Only the path counts. */
const LOCAL = 'http://localhost'

/**
 * Serves the page, the health checks and the metrics.
 *
 * @throws {UsageError} `ERR_PORT_TAKEN` if the address cannot be bound
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { view, metrics, host = '127.0.0.1', logger = silentLogger } = options
  const token = randomBytes(32).toString('base64url')
  const onFault = (fault: unknown) =>
    logger.warn({ cause: toVoxmuxError(fault).message }, 'The dashboard could not ask the store.')
  const progress = new ProgressBoard(view.daemon)
  const feed = new LiveFeed({ view, progress, bootId: randomBytes(8).toString('hex'), onFault })
  const comparisons = new ComparisonStore({ folder: options.comparisonFolder })
  const parts = { view, progress, feed, comparisons, metrics, token, files: readPageFiles() }
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS })
  server.maxConnections = MOST_CONNECTIONS
  const port = await listen(server, host, options.port)
  const hosts = allowedHosts(host, port, options.hosts ?? [])
  server.on('request', (request, response) => {
    answer(request, response, parts, hosts).catch((fault: unknown) => {
      logger.warn({ path: request.url?.split('?', 1)[0], cause: toVoxmuxError(fault).message }, 'A request failed.')
      if (response.headersSent) response.destroy()
      else if (fault instanceof TransientError) sendError(response, 503, fault.message)
      else sendError(response, 500, 'The request failed. The log says why.')
    })
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    close: async () => {
      feed.close()
      progress.close()
      await comparisons.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  parts: DashboardParts,
  hosts: ReadonlySet<string>,
): Promise<void> {
  setSecurityHeaders(response)
  // No route reads a body.
  request.resume()
  const { method = '', headers } = request
  const refusal = refusalOf({ method, headers }, { hosts, token: parts.token })
  if (refusal) return sendError(response, refusal.status, refusal.message)
  if (!URL.canParse(request.url ?? '', LOCAL))
    return sendError(response, 400, 'The address of the request is not valid.')
  const { pathname, searchParams: query } = new URL(request.url ?? '', LOCAL)
  const matching = ROUTES.filter(({ pattern }) => pattern.test(pathname))
  const route = matching.find((one) => one.method === (method === 'HEAD' ? 'GET' : method))
  if (!route) {
    const [status, message] =
      matching.length > 0 ? [405, 'This page does not accept this method.'] : [404, 'This page does not exist.']
    return sendError(response, Number(status), String(message))
  }
  const groups = route.pattern.exec(pathname)?.groups ?? {}
  await route.answer({ ...parts, request, response, query, groups })
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new UsageError('ERR_PORT_TAKEN', `The dashboard cannot listen at ${host}, port ${port} (${cause.code}).`, {
          cause,
          remedies: ['Choose another port with --port; 0 takes any that is free.'],
        }),
      )
    })
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}
