import type { FastifyError, FastifyInstance } from 'fastify'
import { TransientError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { OperationRefused, operationMessage, RequestInvalid, validationError } from './answers.js'

/** When a client may ask again where the store is away. */
const RETRY_AFTER_SEC = 2

/**
 * Gives every fault the shape of the interface: whatever is wrong with a request is a 400 of exactly four fields,
 * what is refused is an operation message, what passes is a 503 that says when to ask again, and a fault of ours is a
 * 500 that tells nothing of the inside.
 */
export function shapeErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof OperationRefused) {
      if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer')
      return reply.status(error.statusCode).send(operationMessage(error.statusCode, error.code, error.message))
    }
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
      return reply.status(400).send(validationError('The body must be sent with Content-Type application/json.'))
    // Fastify tells a body that is no JSON, too large or of another type with 4xx codes of its own.
    const theirs = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
    if (error instanceof RequestInvalid || error.validation || theirs)
      return reply.status(400).send(validationError(error.message))
    if (error instanceof TransientError) {
      logger.warn({ code: error.code, path: request.url.split('?')[0] }, 'A request cannot be answered now.')
      reply.header('retry-after', RETRY_AFTER_SEC)
      return reply.status(503).send(operationMessage(503, error.code, 'The service is not available at the moment.'))
    }
    logger.error({ err: error, method: request.method, path: request.url.split('?')[0] }, 'A request failed.')
    return reply.status(500).send(operationMessage(500, 'ERR_INTERNAL', 'The service failed to answer.'))
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.status(404).send(operationMessage(404, 'ERR_NO_SUCH_OPERATION', 'There is no such operation.')),
  )
}
