import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import {
  ConfidentialClientApplication,
  type NetworkRequestOptions,
  type NetworkResponse,
  ProtocolMode,
} from '@azure/msal-node'
import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { openPortal } from '../../src/service/index.js'
import { freePort } from '../helpers/system/free-port.js'
import { apiClient } from './support/api-client.js'
import { freshToken, requestToken, withService } from './support/with-service.js'

const form = (clientId: string, clientSecret: string, scope: string) => ({
  client_id: clientId,
  client_secret: clientSecret,
  grant_type: 'client_credentials',
  scope,
})

describe('the token endpoint', () => {
  it('answers with a token of an hour that the published keys verify', async () => {
    const service = await withService()
    const { clientId, clientSecret } = await service.createKey('test')
    const answer = await requestToken(service, form(clientId, clientSecret, service.scope))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const token = (await answer.json()) as { access_token: string }
    expect(token).toEqual({
      token_type: 'Bearer',
      expires_in: 3599,
      ext_expires_in: 3599,
      access_token: expect.any(String),
    })
    const keys = createRemoteJWKSet(new URL(`${service.authUrl}/${service.tenantId}/discovery/v2.0/keys`))
    const { payload, protectedHeader } = await jwtVerify(token.access_token, keys)
    expect(protectedHeader.alg).toBe('RS256')
    expect(payload).toMatchObject({ tid: service.tenantId, azp: clientId, scp: service.scope })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600)
    // A node whose clock is behind takes it at once too.
    expect((payload.iat ?? 0) - (payload.nbf ?? 0)).toBe(300)
  })

  it('gives a token to a client that is not ours (openid-client)', async () => {
    const service = await withService()
    const { clientId, clientSecret } = await service.createKey('test')
    const server = new URL(`${service.authUrl}/${service.tenantId}/v2.0`)
    const options = { execute: [openid.allowInsecureRequests] }
    const configuration = await openid.discovery(server, clientId, clientSecret, undefined, options)
    const { access_token } = await openid.clientCredentialsGrant(configuration, { scope: service.scope })
    const client = await apiClient(service, access_token)
    expect(await client.status('nothing')).toHaveLength(1)
    const basic = await openid.discovery(server, clientId, undefined, openid.ClientSecretBasic(clientSecret), options)
    expect(await openid.clientCredentialsGrant(basic, { scope: service.scope })).toHaveProperty('access_token')
  })

  it('gives a token to a client that is not ours (@azure/msal-node)', async () => {
    const port = await freePort()
    const inside = `http://127.0.0.1:${port}`
    // It speaks to https addresses alone: those of a proxy that ends TLS, whose part its network module plays here.
    const service = await withService({ port, storagePort: 0, publicUrl: 'https://voxmux.example' })
    const send = async <T>(
      method: string,
      url: string,
      options?: NetworkRequestOptions,
    ): Promise<NetworkResponse<T>> => {
      const { headers = {}, body } = options ?? {}
      const target = url.replace('https://voxmux.example', inside)
      const answer = await fetch(target, { method, headers, ...(body !== undefined && { body }) })
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: (await answer.json()) as T,
      }
    }
    const { clientId, clientSecret } = await service.createKey('test')
    const application = (secret: string) =>
      new ConfidentialClientApplication({
        auth: {
          clientId,
          clientSecret: secret,
          authority: `${service.authUrl}/${service.tenantId}/v2.0`,
          knownAuthorities: ['voxmux.example'],
        },
        system: {
          protocolMode: ProtocolMode.OIDC,
          networkClient: {
            sendGetRequestAsync: (url, options) => send('GET', url, options),
            sendPostRequestAsync: (url, options) => send('POST', url, options),
          },
        },
      })
    const scopes = [service.scope]
    const result = await application(clientSecret).acquireTokenByClientCredential({ scopes })
    expect(result).toMatchObject({ tokenType: 'Bearer' })
    const client = await apiClient({ ...service, baseUrl: inside }, result?.accessToken)
    expect(await client.status('nothing')).toHaveLength(1)
    const refused = application('wrong').acquireTokenByClientCredential({ scopes })
    await expect(refused).rejects.toMatchObject({ errorCode: 'invalid_client' })
  })

  it.each([
    ['a wrong secret', { client_secret: 'no' }, 401, 'invalid_client'],
    ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
    ['another scope', { scope: 'api://other/.default' }, 400, 'invalid_scope'],
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['no secret', { client_secret: '' }, 400, 'invalid_request'],
    ['no grant', { grant_type: '' }, 400, 'invalid_request'],
  ])('refuses %s', async (_name, change, status, error) => {
    const service = await withService()
    const { clientId, clientSecret } = await service.createKey('test')
    const answer = await requestToken(service, { ...form(clientId, clientSecret, service.scope), ...change })
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([status, error])
  })

  it('refuses a form that is too large as it refuses any other', async () => {
    const { authUrl, tenantId } = await withService()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 2_000_000 }
    // Announced and never sent: what is answered does not depend on how much of it arrived.
    const asking = request(`${authUrl}/${tenantId}/oauth2/v2.0/token`, { method: 'POST', headers, agent: false })
    asking.on('error', () => {}).flushHeaders()
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    expect([answer.statusCode, await json(answer)]).toMatchObject([400, { error: 'invalid_request' }])
    asking.destroy()
  })

  it('refuses a form of very many fields without a long calculation', async () => {
    const service = await withService()
    const body = Array.from({ length: 180_000 }, (_, index) => index.toString(36)).join('&')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const url = `${service.authUrl}/${service.tenantId}/oauth2/v2.0/token`
    const answer = await fetch(url, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }])
  })

  it('refuses another tenant, JSON and a field given twice', async () => {
    const service = await withService()
    const { clientId, clientSecret } = await service.createKey('test')
    const good = form(clientId, clientSecret, service.scope)
    expect((await requestToken(service, good, crypto.randomUUID())).status).toBe(401)
    const url = `${service.authUrl}/${service.tenantId}/oauth2/v2.0/token`
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(good) }
    expect((await fetch(url, json)).status).toBe(400)
    const twice = new URLSearchParams([...Object.entries(good), ['scope', service.scope]])
    expect((await fetch(url, { method: 'POST', body: twice })).status).toBe(400)
  })
})

describe('a bearer token', () => {
  const statusOf = async (service: Parameters<typeof apiClient>[0], token: string) => {
    const answer = await (await apiClient(service, token)).post('getFilesStatus', { fileIds: ['a'] })
    const { statusCode } = (await answer.json()) as { statusCode?: number }
    if (answer.status !== 200) expect(statusCode).toBe(answer.status)
    return answer.status
  }

  it('is refused when it is missing, no token, tampered with, unsigned or signed by a stranger', async () => {
    const service = await withService()
    const token = await freshToken(service)
    const [head = '', body = '', signature = ''] = token.split('.')
    const claims = decodeJwt(token)
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const stranger = await generateKeyPair('RS256')
    const signed = (key: Parameters<SignJWT['sign']>[0], header: { alg: string; kid?: string }) =>
      new SignJWT(claims).setProtectedHeader(header).sign(key)
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
    const keys = (await (await fetch(`${service.authUrl}/${service.tenantId}/discovery/v2.0/keys`)).json()) as {
      keys: Record<string, string>[]
    }
    const forged = [
      '',
      'x',
      `${head}.${encoded({ ...claims, sub: 'me' })}.${signature}`,
      `${head}.${body}.${'A'.repeat(signature.length)}`,
      `${encoded({ alg: 'none', typ: 'JWT' })}.${body}.`,
      await signed(stranger.privateKey, { alg: 'RS256', kid }),
      await signed(stranger.privateKey, { alg: 'RS256' }),
      // The public key taken for an HMAC secret: the classic confusion of algorithms.
      await signed(new TextEncoder().encode(JSON.stringify(keys.keys[0])), { alg: 'HS256', kid }),
    ]
    for (const bad of forged) expect(await statusOf(service, bad)).toBe(401)
    expect(await statusOf(service, token)).toBe(200)
    expect(Object.keys(keys.keys[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  })

  it('is refused after its time, for another audience, tenant or client; another scope is a 403', async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = await exportJWK(privateKey)
    const service = await withService()
    const claims = decodeJwt(await freshToken(service))
    const portal = await openPortal({ dataDir: service.dataDir })
    const { kid, privateKey: signingKey } = await portal.signingKeys.replace()
    await portal.close()
    const issued = (change: object, key = signingKey) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'RS256', kid }).sign(key)
    expect(await statusOf(service, await issued({}))).toBe(200)
    const nowSec = Math.floor(Date.now() / 1000)
    for (const change of [
      { exp: nowSec - 1 },
      { exp: undefined },
      { nbf: nowSec + 600 },
      { aud: 'api://other' },
      { tid: 'other' },
      { iss: `${service.authUrl}/other/v2.0` },
      { azp: 'other' },
      { sub: 'other' },
    ])
      expect(await statusOf(service, await issued(change))).toBe(401)
    expect(await statusOf(service, await issued({ scp: 'api://other/.default' }))).toBe(403)
    expect(jwk.kty).toBe('RSA')
  })

  it('is signed with a new key within seconds of a rotation, by every node', async () => {
    const first = await withService()
    const second = await withService({ dataDir: first.dataDir, serveOnly: true })
    const kidOf = async (service: typeof first) => decodeProtectedHeader(await freshToken(service)).kid
    const kids = await Promise.all([kidOf(first), kidOf(second)])
    expect(kids[0]).toBe(kids[1])
    const portal = await openPortal({ dataDir: first.dataDir })
    const { kid } = await portal.signingKeys.replace()
    await portal.close()
    expect(kids).not.toContain(kid)
    for (const node of [first, second]) await expect.poll(() => kidOf(node), { timeout: 30_000 }).toBe(kid)
    expect(await statusOf(second, await freshToken(first))).toBe(200)
  })

  it('outlives a rotation of the signing key and the node that issued it, but not its API key', async () => {
    const first = await withService()
    const portal = await openPortal({ dataDir: first.dataDir })
    const user = await portal.accounts.ensure('local')
    const key = await portal.keys.create(user.id, 'lasting')
    const answer = await requestToken(first, form(key.clientId, key.clientSecret, first.scope))
    const { access_token } = (await answer.json()) as { access_token: string }
    await portal.signingKeys.replace()
    await first.close()
    const second = await withService({ dataDir: first.dataDir })
    expect(second).toMatchObject({ tenantId: first.tenantId, serviceId: first.serviceId })
    expect(await statusOf(second, access_token)).toBe(200)
    await portal.keys.revoke(key.clientId)
    expect(await statusOf(second, access_token)).toBe(401)
    const { clientSecret } = await portal.keys.regenerate(key.clientId)
    await portal.close()
    // What was declared dead stays dead: the key lives again, its old tokens do not.
    expect(await statusOf(second, access_token)).toBe(401)
    const renewed = await requestToken(second, form(key.clientId, clientSecret, second.scope))
    expect(await statusOf(second, ((await renewed.json()) as { access_token: string }).access_token)).toBe(200)
  })
})
