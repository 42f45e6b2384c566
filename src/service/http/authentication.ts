import type { FastifyInstance, FastifyRequest } from 'fastify'
import { TokenRefused } from '../identity/access-tokens.js'
import type { Authenticator } from '../identity/authenticator.js'
import { OperationRefused } from './answers.js'

const USERS = new WeakMap<FastifyRequest, string>()

/** Requires a valid bearer token before a byte of the body is read. */
export function requireBearer(app: FastifyInstance, authenticator: Authenticator): void {
  app.addHook('onRequest', async (request) => {
    const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (!token) throw unauthorized('A bearer token is required.')
    try {
      USERS.set(request, await authenticator(token))
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      if (error.fault === 'scope') throw new OperationRefused(403, 'ERR_WRONG_SCOPE', error.message)
      throw unauthorized(error.message)
    }
  })
}

/** Id of the user whose token the request carries. */
export function userOf(request: FastifyRequest): string {
  const userId = USERS.get(request)
  if (userId === undefined) throw unauthorized('A bearer token is required.')
  return userId
}

function unauthorized(message: string): OperationRefused {
  return new OperationRefused(401, 'ERR_UNAUTHORIZED', message)
}
