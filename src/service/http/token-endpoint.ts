import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LIMITS, type TokenAnswer } from '../../contract/index.js'
import type { AccessTokens } from '../identity/access-tokens.js'
import type { ApiKeys } from '../identity/api-keys.js'
import type { SigningKeys } from '../identity/signing-keys.js'
import type { ServiceIdentity } from '../store/service-store.js'

export interface IdentityEndpoints {
  readonly identity: ServiceIdentity
  readonly apiKeys: ApiKeys
  readonly signingKeys: SigningKeys
  readonly tokens: AccessTokens
  /** Address of this node's identity provider. Defined once the node listens. */
  readonly authUrl: () => string
}

/** Serves the identity provider of the service: token endpoint, public keys, discovery document. */
export async function serveIdentity(app: FastifyInstance, endpoints: IdentityEndpoints): Promise<void> {
  const { identity, apiKeys, signingKeys, tokens, authUrl } = endpoints
  const tenantUrl = () => `${authUrl()}/${identity.tenantId}`
  const issuer = () => `${tenantUrl()}/v2.0`

  // Form bodies are parsed in this scope only: the operations accept nothing but JSON.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  )
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume()
    done(null, undefined)
  })

  // Unreadable bodies (too large, broken off) are refused in OAuth's shape too.
  const errorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const isTheirs = (error.statusCode ?? 500) < 500
    return isTheirs ? refuse(reply, 400, 'invalid_request', error.message) : app.errorHandler(error, request, reply)
  }

  const tokenPath = '/identity/:tenant/oauth2/v2.0/token'
  app.post<{ Params: { tenant: string } }>(tokenPath, { errorHandler }, async (request, reply) => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    const form = request.body
    if (!(form instanceof URLSearchParams))
      return refuse(reply, 400, 'invalid_request', 'The body must be form-encoded.')
    const repeated = [...form.keys()].find((name) => form.getAll(name).length > 1)
    if (repeated) return refuse(reply, 400, 'invalid_request', `The field ${repeated} is given twice.`)
    if (request.params.tenant !== identity.tenantId)
      return refuse(reply, 401, 'invalid_client', 'This tenant does not exist here.')
    // RFC 6749, 5.2: another grant type is unsupported; an omitted one is a missing parameter.
    if (!form.get('grant_type')) return refuse(reply, 400, 'invalid_request', 'grant_type is required.')
    if (form.get('grant_type') !== 'client_credentials')
      return refuse(reply, 400, 'unsupported_grant_type', 'grant_type must be client_credentials.')
    const { clientId, clientSecret } = credentials(request.headers.authorization, form)
    if (!clientId || !clientSecret)
      return refuse(reply, 400, 'invalid_request', 'client_id and client_secret are required.')
    const key = await apiKeys.authenticate(clientId, clientSecret)
    if (!key)
      return refuse(
        reply,
        401,
        'invalid_client',
        'The client id or its secret is wrong, or the key is revoked or expired.',
      )
    if (form.get('scope') !== identity.scope)
      return refuse(reply, 400, 'invalid_scope', `scope must be ${identity.scope}.`)
    // One second less than the token's lifetime, so that a client that counts from the response never sends an expired
    // one.
    const lifetimeSec = LIMITS.accessTokenLifetimeSec - 1
    const answer: TokenAnswer = {
      token_type: 'Bearer',
      expires_in: lifetimeSec,
      ext_expires_in: lifetimeSec,
      access_token: await tokens.issue(key, issuer()),
    }
    return answer
  })

  app.get('/identity/:tenant/oauth2/v2.0/authorize', async (_request, reply) =>
    refuse(reply, 400, 'unsupported_response_type', 'Sign-in is not supported. Use client credentials.'),
  )

  app.get('/identity/:tenant/discovery/v2.0/keys', async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    return signingKeys.published()
  })

  app.get<{ Params: { tenant: string } }>('/identity/:tenant/v2.0/.well-known/openid-configuration', async () => ({
    issuer: issuer(),
    // The service has no sign-in, but Microsoft's clients reject a document without this address.
    authorization_endpoint: `${tenantUrl()}/oauth2/v2.0/authorize`,
    token_endpoint: `${tenantUrl()}/oauth2/v2.0/token`,
    jwks_uri: `${tenantUrl()}/discovery/v2.0/keys`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    grant_types_supported: ['client_credentials'],
    scopes_supported: [identity.scope],
    response_types_supported: ['token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }))
}

/** Sends an error in the shape of OAuth 2.0 (RFC 6749, 5.2). */
function refuse(reply: FastifyReply, status: 400 | 401, error: string, description: string) {
  if (status === 401) reply.header('www-authenticate', 'Basic realm="voxmux"')
  return reply.status(status).send({ error, error_description: description })
}

/** Reads the form, as the interface specifies, or a Basic header, which RFC 6749 requires every server to accept. */
function credentials(header: string | undefined, form: URLSearchParams) {
  const basic = /^Basic +([\w+/=-]+)$/i.exec(header ?? '')?.[1]
  if (!basic) return { clientId: form.get('client_id'), clientSecret: form.get('client_secret') }
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString('utf8').split(/:(.*)/s)
  return { clientId: formDecoded(id), clientSecret: formDecoded(secret) }
}

function formDecoded(text: string): string {
  return new URLSearchParams(`v=${text}`).get('v') ?? ''
}
