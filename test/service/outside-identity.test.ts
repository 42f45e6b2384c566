import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import * as openid from 'openid-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiClient } from './support/api-client.js'
import { withService } from './support/with-service.js'

const AUDIENCE = 'urn:voices'

/** A real identity provider that is not ours. */
async function outsideProvider(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: ['one', 'two'].map((client_id) => ({
      client_id,
      client_secret: 'a secret of some length',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
    })),
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: (_context: unknown, audience: string) => ({
          audience,
          scope: 'regenerate other',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    scopes: ['regenerate', 'other'],
  })
  server.on('request', provider.callback())
  return issuer
}

async function tokenOf(issuer: string, clientId: string, scope: string, resource = AUDIENCE): Promise<string> {
  const options = { execute: [openid.allowInsecureRequests] }
  const configuration = await openid.discovery(new URL(issuer), clientId, 'a secret of some length', undefined, options)
  return (await openid.clientCredentialsGrant(configuration, { scope, resource })).access_token
}

describe('an outside identity provider', () => {
  it('vouches for users: its tokens are taken, each client has files of its own, wrong ones are refused', async () => {
    const issuer = await outsideProvider()
    const outside = { issuer, audience: AUDIENCE, jwksUrl: `${issuer}/jwks`, scope: 'regenerate' }
    const service = await withService({ settings: { identity: { outside } } })
    const one = await apiClient(service, await tokenOf(issuer, 'one', 'regenerate'))
    const two = await apiClient(service, await tokenOf(issuer, 'two', 'regenerate'))
    const { file_id } = await one.register('mine.wav')
    expect((await one.status(file_id))[0]?.status).toBe('Pending')
    expect((await two.status(file_id))[0]?.status).toBe('NotFound')

    const answers = async (token: string) =>
      (await (await apiClient(service, token)).post('getFilesStatus', { fileIds: ['a'] })).status
    expect(await answers(await tokenOf(issuer, 'one', 'other'))).toBe(403)
    expect(await answers(await tokenOf(issuer, 'one', 'regenerate', 'urn:elsewhere'))).toBe(401)
    expect(await answers(await tokenOf(await outsideProvider(), 'one', 'regenerate'))).toBe(401)
    expect(await answers('no.token.atall')).toBe(401)
  })

  it('may have a clock that is a little ahead or behind', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const server = createServer(async (_request, response) =>
      response.end(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' }] })),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const service = await withService({
      settings: { identity: { outside: { issuer, audience: AUDIENCE, jwksUrl: issuer } } },
    })
    const answered = async (fromSec: number, toSec: number) => {
      const nowSec = Math.floor(Date.now() / 1000)
      const claims = { iss: issuer, aud: AUDIENCE, sub: 'one', nbf: nowSec + fromSec, exp: nowSec + toSec }
      const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'a' }).sign(privateKey)
      return (await (await apiClient(service, token)).post('getFilesStatus', { fileIds: ['a'] })).status
    }
    expect(await answered(30, 3600)).toBe(200)
    expect(await answered(-3600, -30)).toBe(200)
    expect(await answered(600, 3600)).toBe(401)
    expect(await answered(-3600, -600)).toBe(401)
  })
})
