import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceIdentity } from '../store/service-store.js'
import { shortMessage } from './answers.js'

/** An error in the shape of OAuth 2.0 (RFC 6749, 5.2). */
export interface TokenRefusal {
  readonly status: 400 | 401
  readonly error: string
  readonly description: string
}

/** A complete token request, whose credentials and scope are not yet checked. */
interface TokenRequest {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string | null
}

/** Sends the refusal of a request. */
export function refuse(reply: FastifyReply, { status, error, description }: TokenRefusal): FastifyReply {
  if (status === 401) reply.header('www-authenticate', 'Basic realm="voxmux"')
  return reply.status(status).send({ error, error_description: description })
}

/** A request that is not what the interface specifies. */
export function invalidRequest(description: string): TokenRefusal {
  return { status: 400, error: 'invalid_request', description: shortMessage(description) }
}

/** Reads a request of the client credentials grant. */
export function readTokenRequest(
  { body: form, headers, params }: FastifyRequest<{ Params: { tenant: string } }>,
  { tenantId }: ServiceIdentity,
): TokenRequest | TokenRefusal {
  if (!(form instanceof URLSearchParams)) return invalidRequest('The body must be form-encoded.')
  const repeated = firstRepeated(form.keys())
  if (repeated !== undefined) return invalidRequest(`The field ${repeated} is given twice.`)
  if (params.tenant !== tenantId)
    return { status: 401, error: 'invalid_client', description: 'This tenant does not exist here.' }
  // RFC 6749, 5.2: another grant type is unsupported; an omitted one is a missing parameter.
  if (!form.get('grant_type')) return invalidRequest('grant_type is required.')
  if (form.get('grant_type') !== 'client_credentials')
    return { status: 400, error: 'unsupported_grant_type', description: 'grant_type must be client_credentials.' }
  const { clientId, clientSecret } = credentials(headers.authorization, form)
  if (!clientId || !clientSecret) return invalidRequest('client_id and client_secret are required.')
  return { clientId, clientSecret, scope: form.get('scope') }
}

/** One look at each name: anybody may send a form, and one with very many fields must not hold up the others. */
function firstRepeated(names: Iterable<string>): string | undefined {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
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
