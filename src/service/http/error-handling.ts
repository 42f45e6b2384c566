import type { FastifyError, FastifyInstance } from 'fastify'
import { TransientError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { OperationRefused, operationMessage, RequestInvalid, validationError } from './answers.js'

/** Wait before a client retries if the store is not reachable. */
const RETRY_AFTER_SEC = 2

/**
 * Gives every error the shape of the interface. An invalid request gets a 400 of exactly four fields, and a refused one
 * an operation message. A transient fault gets a 503 with a retry time. A fault of the service gets a 500 without
 * internal details.
 */
export function shapeErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof OperationRefused) {
      if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer')
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
