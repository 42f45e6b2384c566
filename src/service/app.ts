import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { OPERATIONS } from '../contract/index.js'
import type { Logger } from '../core/logger.js'
import type { Limits } from '../precheck/index.js'
import { validationError } from './http/answers.js'
import { requireBearer } from './http/authentication.js'
import { shapeErrors } from './http/error-handling.js'
import { serveOperations } from './http/operations.js'
import { type IdentityEndpoints, serveIdentity } from './http/token-endpoint.js'
import type { Authenticator } from './identity/authenticator.js'
import { openApiDocument } from './openapi/openapi-document.js'
import { openApiPage } from './openapi/openapi-page.js'
import type { FileService } from './work/file-service.js'

export interface AppOptions {
  readonly service: FileService
  readonly authenticator: Authenticator
  readonly endpoints: IdentityEndpoints
  readonly limits: Limits
  readonly logger: Logger
}

/** Where the service says what it takes: no token is needed, so that a pre-check can ask first. */
export const LIMITS_PATH = '/api/v1/limits'

/** The HTTP side of the service, not yet listening. */
export function buildApp(options: AppOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    // What cannot even be routed gets the shape of a 400 too.
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      reply.status(400).send(validationError(error.message))
    },
    clientErrorHandler: answerBrokenRequest,
    bodyLimit: 1024 ** 2,
    forceCloseConnections: 'idle',
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.removeContentTypeParser('text/plain')
  shapeErrors(app, options.logger)

  const { ping } = OPERATIONS
  app.get(ping.path, { schema: { response: { 200: ping.answer } } }, async () => ({ status: 'ok' }))
  app.get(LIMITS_PATH, async () => options.limits)
  app.get('/api/v1/openapi.json', async (_request, reply) =>
    reply.send(openApiDocument(options.endpoints.identity.scope)),
  )
  app.get('/api/v1/docs', async (_request, reply) => {
    reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
    return reply.type('text/html; charset=utf-8').send(openApiPage(options.endpoints.identity.scope))
  })
  app.register(async (scope) => serveIdentity(scope, options.endpoints))
  app.register(async (scope) => {
    requireBearer(scope, options.authenticator)
    serveOperations(scope, options.service)
  })
  return app
}

/** Bytes that are no HTTP at all: answered on the bare socket, in the same shape. */
function answerBrokenRequest(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const body = JSON.stringify(validationError('The request is not valid HTTP.'))
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}
