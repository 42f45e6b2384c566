import type { FastifyError, FastifyInstance } from 'fastify'
import type { Logger } from '../../core/logger.js'
import { OperationRefused, operationMessage, RequestInvalid, validationError } from './answers.js'

/**
 * Gives every fault the shape of the interface: whatever is wrong with a request is a 400 of exactly four fields,
 * what is refused is an operation message, and a fault of ours is a 500 that tells nothing of the inside.
 */
export function shapeErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof OperationRefused) {
      if (error.statusCode === 401) reply.header('www-authenticate', 'Bearer')
      return reply.status(error.statusCode).send(operationMessage(error.statusCode, error.code, error.message))
    }
    // Fastify tells a body that is no JSON, too large or of another type with 4xx codes of its own.
    const theirs = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500
    if (error instanceof RequestInvalid || error.validation || theirs)
      return reply.status(400).send(validationError(error.message))
    logger.error({ err: error, method: request.method, path: request.url.split('?')[0] }, 'A request failed.')
    return reply.status(500).send(operationMessage(500, 'ERR_INTERNAL', 'The service failed to answer.'))
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.status(404).send(operationMessage(404, 'ERR_NO_SUCH_OPERATION', 'There is no such operation.')),
  )
}
