import { z } from 'zod'
import type { Logger } from '../core/logger.js'
import { sharedWhileRunning } from '../core/waiting.js'
import { joinAddress, safeAddress } from './address.js'
import type { ResolvedClientOptions } from './client-options.js'
import { exchangeJson } from './exchange-json.js'
import { faultError } from './fault-error.js'
import { HttpFault } from './http-fault.js'
import { withRetries } from './retry.js'
import type { TextTransport } from './transport.js'
import { untilAborted } from './until-aborted.js'

interface Token {
  readonly value: string
  readonly renewAtMs: number
  readonly expiresAtMs: number
}

/** The token response. Some providers send `expires_in` as text. */
const tokenAnswerSchema = z.object({
  // A header can carry nothing else.
  access_token: z.string().regex(/^[\x21-\x7e]+$/, 'it is empty or has characters that no token has'),
  expires_in: z.union([z.number(), z.string().trim().regex(/^\d+$/).transform(Number)], {
    error: 'it does not state the lifetime of the token in seconds',
  }),
})

/** A token is renewed after 80 to 90 % of its lifetime: early, and not by every process in the same second. */
const RENEW_FROM = 0.8
const RENEW_SPREAD = 0.1

/** The access token of one identity (OAuth 2.0 client credentials), shared by all calls until it expires. */
export class TokenProvider {
  readonly #address: URL
  readonly #options: ResolvedClientOptions
  readonly #transport: TextTransport
  readonly #logger: Logger
  #token: Token | undefined
  readonly #renewed = sharedWhileRunning(() => this.#ask())
  /** The last tokens: a response may still contain one that was renewed in the meantime. */
  readonly #known: string[] = []

  constructor(options: ResolvedClientOptions, transport: TextTransport, logger: Logger) {
    this.#address = safeAddress(options.authUrl, 'The address of the identity provider')
    this.#options = options
    this.#transport = transport
    this.#logger = logger
  }

  /**
   * Returns a valid token. An abort ends this call's wait, not the request that others share.
   *
   * @throws {AccessError} `ERR_AUTH_FAILED`, `ERR_ACCESS_DENIED`
   * @throws {UsageError} `ERR_WRONG_ADDRESS`, `ERR_INSECURE_ADDRESS`
   * @throws {TransientError} if the provider is not reachable
   */
  async get(signal?: AbortSignal): Promise<string> {
    const token = this.#token
    const now = Date.now()
    if (token && now < token.renewAtMs) return token.value
    try {
      return (await untilAborted(this.#renewed(), signal)).value
    } catch (thrown) {
      // The early renewal leaves room: an outage of a minute goes unnoticed.
      if (token && token === this.#token && now < token.expiresAtMs && !signal?.aborted) return token.value
      throw thrown
    }
  }

  /** Discards a token that got a 401. The next {@link get} requests another, once for all such calls. */
  reject(value: string): void {
    if (this.#token?.value === value) this.#token = undefined
  }

  /** Values that no error may contain, even if a response repeats them. */
  get secrets(): readonly string[] {
    return [this.#options.clientSecret, ...this.#known]
  }

  async #ask(): Promise<Token> {
    const { tenantId, clientId, clientSecret, scope, retry } = this.#options
    const exchange = () =>
      exchangeJson(this.#transport, {
        operation: 'token',
        method: 'POST',
        url: joinAddress(this.#address, `/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`),
        form: { client_id: clientId, client_secret: clientSecret, grant_type: 'client_credentials', scope },
        answer: tokenAnswerSchema,
        secrets: this.secrets,
      })
    try {
      const answer = await withRetries(exchange, { retry, logger: this.#logger, transport: this.#transport })
      const lifeMs = answer.expires_in * 1000
      const now = Date.now()
      this.#known.splice(0, this.#known.length, answer.access_token, ...this.#known.slice(0, 2))
      this.#token = {
        value: answer.access_token,
        renewAtMs: now + lifeMs * (RENEW_FROM + Math.random() * RENEW_SPREAD),
        expiresAtMs: now + lifeMs,
      }
      return this.#token
    } catch (thrown) {
      throw thrown instanceof HttpFault ? faultError(thrown, this.#address.host) : thrown
    }
  }
}
