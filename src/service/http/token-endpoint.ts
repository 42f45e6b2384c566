import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS, type TokenAnswer } from '../../contract/index.js'
import type { IdentityProvider } from '../identity/node-identity.js'
import { invalidRequest, readTokenRequest, refuse, type TokenRefusal } from './token-request.js'

const WRONG_CREDENTIALS: TokenRefusal = {
  status: 401,
  error: 'invalid_client',
  description: 'The client id and the secret do not match, or the key is revoked or expired.',
}

const NO_SIGN_IN: TokenRefusal = {
  status: 400,
  error: 'unsupported_response_type',
  description: 'Sign-in is not supported. Use client credentials.',
}

/** Largest token request, which has four short fields. */
const MAX_FORM_BYTES = 64 * 1024

export interface IdentityEndpoints extends IdentityProvider {
  /** Address of this node's identity provider. Defined once the node listens. */
  readonly authUrl: () => string
}

/** Serves the identity provider of the service: token endpoint, public keys, discovery document. */
export async function serveIdentity(app: FastifyInstance, endpoints: IdentityEndpoints): Promise<void> {
  parseForms(app)
  serveTokens(app, endpoints)
  serveDiscovery(app, endpoints)
}

/** Form bodies are parsed in this scope only: the operations accept nothing but JSON. */
function parseForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  )
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null, undefined)
  })
}

function serveTokens(app: FastifyInstance, endpoints: IdentityEndpoints): void {
  const { identity, apiKeys, tokens } = endpoints

  // Unreadable bodies (too large, broken off) are refused in OAuth's shape too.
  const errorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const isTheirs = (error.statusCode ?? 500) < 500
    return isTheirs ? refuse(reply, invalidRequest(error.message)) : app.errorHandler(error, request, reply)
  }

  const tokenPath = '/identity/:tenant/oauth2/v2.0/token'
  app.post<{ Params: { tenant: string } }>(
    tokenPath,
    { errorHandler, bodyLimit: MAX_FORM_BYTES },
    async (request, reply) => {
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
      const asked = readTokenRequest(request, identity)
      if ('error' in asked) return refuse(reply, asked)
      const key = await apiKeys.authenticate(asked.clientId, asked.clientSecret)
      if (!key) return refuse(reply, WRONG_CREDENTIALS)
      if (asked.scope !== identity.scope)
        return refuse(reply, { status: 400, error: 'invalid_scope', description: `scope must be ${identity.scope}.` })
      return tokenAnswer(await tokens.issue(key, issuerOf(endpoints)))
    },
  )

  app.get('/identity/:tenant/oauth2/v2.0/authorize', async (_request, reply) => refuse(reply, NO_SIGN_IN))
}

function serveDiscovery(app: FastifyInstance, endpoints: IdentityEndpoints): void {
  const { identity, signingKeys } = endpoints

  app.get('/identity/:tenant/discovery/v2.0/keys', async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    return signingKeys.published()
  })

  app.get<{ Params: { tenant: string } }>('/identity/:tenant/v2.0/.well-known/openid-configuration', async () => ({
    issuer: issuerOf(endpoints),
    // The service has no sign-in, but Microsoft's clients reject a document without this address.
    authorization_endpoint: `${tenantUrl(endpoints)}/oauth2/v2.0/authorize`,
    token_endpoint: `${tenantUrl(endpoints)}/oauth2/v2.0/token`,
    jwks_uri: `${tenantUrl(endpoints)}/discovery/v2.0/keys`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    grant_types_supported: ['client_credentials'],
    scopes_supported: [identity.scope],
    response_types_supported: ['token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }))
}

function tenantUrl({ authUrl, identity }: IdentityEndpoints): string {
  return `${authUrl()}/${identity.tenantId}`
}

function issuerOf(endpoints: IdentityEndpoints): string {
  return `${tenantUrl(endpoints)}/v2.0`
}

function tokenAnswer(accessToken: string): TokenAnswer {
  // One second less than the token's lifetime, so that a client that counts from the response never sends an expired
  // one.
  const lifetimeSec = LIMITS.accessTokenLifetimeSec - 1
  return { token_type: 'Bearer', expires_in: lifetimeSec, ext_expires_in: lifetimeSec, access_token: accessToken }
}
