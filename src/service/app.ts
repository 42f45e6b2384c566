import { isUtf8 } from 'node:buffer'

import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { OPERATIONS } from '../contract/index.js'
import { TransientError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { Limits } from '../precheck/index.js'
import { OperationRefused, operationMessage, RequestInvalid, validationError } from './http/answers.js'
import { requireBearer } from './http/authentication.js'
import { serveOperations } from './http/operations.js'
import { type IdentityEndpoints, serveIdentity } from './http/token-endpoint.js'
import type { Authenticator } from './identity/authenticator.js'
import { openApiDocument } from './openapi/openapi-document.js'
import { openApiPage } from './openapi/openapi-page.js'
import type { FileService } from './work/file-service.js'

/** Wait before a client retries if the store is not reachable. */
const RETRY_AFTER_SEC = 2

/** Wait before a client registers again if its account has too many files that were not started. */
const ROOM_AFTER_SEC = 60

interface AppOptions {
  readonly service: FileService
  readonly authenticator: Authenticator
  readonly endpoints: IdentityEndpoints
  readonly limits: Limits
  readonly logger: Logger
  /** Rejects if the store does not respond. */
  readonly askStore: () => Promise<unknown>
}

/** Publishes the limits without a token, so that a pre-check can read them before it logs in. */
const LIMITS_PATH = '/api/v1/limits'

/** The page is self-contained: it loads nothing, sends nothing and cannot be framed. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** A request body is at most 1 MB. A client that needs longer is only holding a connection. */
const REQUEST_TIMEOUT_MS = 60_000

/** Builds the HTTP side of the service. It does not listen yet. */
export function buildApp(options: AppOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    // Requests that cannot be routed get the shape of a 400 too.
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      reply.status(400).send(validationError(error.message))
    },
    clientErrorHandler: answerBrokenRequest,
    // Node.js would respond with an empty body.
    http: { requireHostHeader: false },
    bodyLimit: 1024 ** 2,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  takeJson(app)
  shapeErrors(app, options.logger)

  serveHealth(app, options.askStore)
  const { ping } = OPERATIONS
  app.get(ping.path, { schema: { response: { 200: ping.answer } } }, async () => ({ status: 'ok' }))
  app.get(LIMITS_PATH, async () => options.limits)
  app.get('/api/v1/openapi.json', async (_request, reply) =>
    reply.send(openApiDocument(options.endpoints.identity.scope)),
  )
  app.get('/api/v1/docs', async (_request, reply) => {
    reply.header('content-security-policy', PAGE_POLICY).header('x-content-type-options', 'nosniff')
    return reply.type('text/html; charset=utf-8').send(openApiPage(options.endpoints.identity.scope))
  })
  app.register(async (scope) => serveIdentity(scope, options.endpoints))
  app.register(async (scope) => {
    requireBearer(scope, options.authenticator)
    serveOperations(scope, options.service)
  })
  return app
}

/** Accepts JSON in UTF-8 only: other bytes would come back as different text. */
function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (isUtf8(body)) parse(request, body.toString(), done)
    else done(new RequestInvalid('The body is not valid UTF-8.'))
  })
}

/** Answers bytes that are not HTTP, or never end, on the bare socket and in the same shape. */
function answerBrokenRequest(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const message = isLate
    ? operationMessage(408, 'ERR_REQUEST_TIMEOUT', 'The request did not arrive in time.')
    : validationError('The request is not valid HTTP.')
  const body = JSON.stringify(message)
  const status = `${message.statusCode} ${message.error}`
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}

/**
 * Gives every error the shape of the interface. An invalid request gets a 400 of exactly four fields, and a refused one
 * an operation message. A transient fault gets a 503 with a retry time. A fault of the service gets a 500 without
 * internal details.
 */
function shapeErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof OperationRefused) {
      if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer')
      if (error.statusCode === 429) reply.header('retry-after', ROOM_AFTER_SEC)
      return reply.status(error.statusCode).send(operationMessage(error.statusCode, error.code, error.message))
    }
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
      return reply.status(400).send(validationError('The body must be sent with Content-Type application/json.'))
    // Fastify reports a body that is not JSON, too large or of another type with its own 4xx codes.
    const theirs = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
    if (error instanceof RequestInvalid || error.validation || theirs)
      return reply.status(400).send(validationError(error.message))
    if (error instanceof TransientError) {
      logger.warn(
        { code: error.code, path: request.url.split('?')[0] },
        'The store is not reachable: a request gets a 503.',
      )
      reply.header('retry-after', RETRY_AFTER_SEC)
      return reply.status(503).send(operationMessage(503, error.code, 'The service is not available at the moment.'))
    }
    logger.error({ err: error, method: request.method, path: request.url.split('?')[0] }, 'A request failed.')
    return reply.status(500).send(operationMessage(500, 'ERR_INTERNAL', 'The service could not process the request.'))
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.status(404).send(operationMessage(404, 'ERR_NO_SUCH_OPERATION', 'This operation does not exist.')),
  )
}

/**
 * Registers the pages of an operator, which need no token: the process at `/healthz`, the store at `/readyz`, and figures
 * for Prometheus at `/metrics`.
 *
 * @param askStore rejects with a transient error if the store does not respond
 */
function serveHealth(app: FastifyInstance, askStore: () => Promise<unknown>): void {
  const answers = new Map<string, number>()
  app.addHook('onResponse', async ({ routeOptions, method }, { statusCode }) => {
    // The route and not the path, which may contain an id: each id would become a series of its own.
    const labels = `method="${method}",route="${routeOptions.url ?? ''}",status="${statusCode}"`
    answers.set(labels, (answers.get(labels) ?? 0) + 1)
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    await askStore()
    return { status: 'ready' }
  })
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(metricsText(answers)),
  )
}

function metricsText(answers: ReadonlyMap<string, number>): string {
  return [
    '# HELP voxmux_service_responses_total Responses of this node.',
    '# TYPE voxmux_service_responses_total counter',
    ...[...answers].map(([labels, count]) => `voxmux_service_responses_total{${labels}} ${count}`),
    '# HELP process_resident_memory_bytes Memory of this process.',
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    '# HELP process_uptime_seconds Time since the start.',
    '# TYPE process_uptime_seconds gauge',
    `process_uptime_seconds ${process.uptime()}`,
    '',
  ].join('\n')
}
