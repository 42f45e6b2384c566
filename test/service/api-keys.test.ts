import { describe, expect, it, onTestFinished } from 'vitest'
import { secretExpiryMs } from '../../src/service/identity/api-keys.js'
import { openPortal } from '../../src/service/index.js'
import { openNodeStore } from '../../src/service/store/open-node-store.js'
import { apiClient } from './support/api-client.js'
import { requestToken, withService } from './support/with-service.js'

const form = (clientId: string, clientSecret: string, scope: string) => ({
  client_id: clientId,
  client_secret: clientSecret,
  grant_type: 'client_credentials',
  scope,
})

describe('API keys', () => {
  it('are kept as a hash, last two years, and end when regenerated or revoked', async () => {
    const service = await withService()
    const portal = await openPortal({ dataDir: service.dataDir })
    const { store, close } = await openNodeStore({ dataDir: service.dataDir })
    onTestFinished(close)
    const key = await portal.keys.create((await portal.accounts.ensure('local')).id, 'ci')
    const works = async (secret: string) =>
      (await requestToken(service, form(key.clientId, secret, service.scope))).status === 200
    const later = new Date(key.createdMs)
    later.setUTCFullYear(later.getUTCFullYear() + 2)
    expect(key.expiresMs).toBe(later.getTime())
    // Two years that hold a leap day, and that begin on one.
    const years = (from: string) => new Date(secretExpiryMs(Date.parse(from))).toISOString()
    expect(years('2027-07-01T12:00:00.000Z')).toBe('2029-07-01T12:00:00.000Z')
    expect(years('2028-02-29T00:00:00.000Z')).toBe('2030-03-01T00:00:00.000Z')
    expect(await works(key.clientSecret)).toBe(true)
    expect(JSON.stringify(portal.keys.list())).not.toContain(key.clientSecret)
    const { clientSecret } = await portal.keys.regenerate(key.clientId)
    expect([await works(key.clientSecret), await works(clientSecret)]).toEqual([false, true])
    await store.keys.change(key.clientId, { expiresMs: Date.now() - 1 })
    expect(await works(clientSecret)).toBe(false)
    await portal.keys.revoke(key.clientId)
    expect(await works(clientSecret)).toBe(false)
    await expect(portal.keys.revoke('nobody')).rejects.toThrow(/No API key/)
    await portal.close()
  })

  it('of a process do not end by a jump of the clock, not even if they were swept away', async () => {
    const service = await withService()
    const { clientId, clientSecret } = await service.createKey('own')
    const { store, close } = await openNodeStore({ dataDir: service.dataDir })
    onTestFinished(close)
    const status = async () => (await requestToken(service, form(clientId, clientSecret, service.scope))).status
    // What the clock says after a jump: the key ended long ago, and then it is not there any more.
    await store.keys.change(clientId, { expiresMs: Date.now() - 400 * 24 * 3600_000 })
    expect(await status()).toBe(200)
    expect((await store.keys.get(clientId))?.expiresMs).toBeGreaterThan(Date.now() + 3000_000)
    await store.keys.forget(clientId)
    expect([await status(), await status()]).toEqual([200, 200])
    await store.keys.change(clientId, { revokedMs: Date.now() })
    expect(await status()).toBe(401)
  })

  it('of one user do not open the files of another', async () => {
    const service = await withService()
    const portal = await openPortal({ dataDir: service.dataDir })
    const other = await portal.keys.create((await portal.accounts.create('other')).id, 'theirs')
    await portal.close()
    const answer = await requestToken(service, form(other.clientId, other.clientSecret, service.scope))
    const theirs = await apiClient(service, ((await answer.json()) as { access_token: string }).access_token)
    const ours = await apiClient(service)
    const { file_id } = await ours.register('mine.wav')
    expect(await theirs.status(file_id)).toEqual([{ id: file_id, status: 'NotFound', errorCode: -11, progress: 0 }])
    const refused = await theirs.post('startProcess', { file_id, options: { model: 'regen_v1' } })
    expect(refused.status).toBe(404)
    expect((await theirs.post('getOutputFileUrl', { fileId: file_id })).status).toBe(404)
  })
})
