import { copyFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { CredentialsSettings } from '../../src/config/index.js'
import { openCredentials, readCredentials } from '../../src/credentials/index.js'
import { fixture } from '../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../helpers/media-factory.js'
import { describeWithC2pa } from '../helpers/read-by-stranger.js'
import { makeAuthority, type TestAuthority } from '../helpers/signing-authority.js'
import { startTimestampAuthority } from '../helpers/timestamp-authority.js'

describeWithC2pa('a time stamp', () => {
  let folder: TestFolder
  let authority: TestAuthority
  let clock: Awaited<ReturnType<typeof startTimestampAuthority>>
  let settings: CredentialsSettings

  beforeAll(async () => {
    folder = await testFolder()
    authority = makeAuthority(folder.path)
    clock = await startTimestampAuthority(folder.path, authority)
    settings = { ...authority.sign('editor'), timestamp: clock.address, allowPrivateTimestamp: true }
  })
  afterAll(async () => {
    await clock.close()
    await folder.remove()
  })

  async function sign(own: Partial<CredentialsSettings> = {}) {
    const path = folder.file('take.wav')
    copyFileSync(fixture('silence.wav'), path)
    await openCredentials({ ...settings, ...own }).sign({
      ...{ path, container: 'wav', sidecarPart: `${path}.c2pa`, parent: null, level: 'fast' },
      facts: {
        ...{ output: 'take.wav', sourceType: 'algorithmicallyEnhanced', input: { name: 'take.wav', sha256: null } },
        ...{ recipeHash: '', preset: 'transparent', model: 'regen_v1', segments: [], tracks: [] },
      },
    })
    return readCredentials(path, 'wav', { trust: authority.trust })
  }

  it('comes from the configured authority, asked once, and through no proxy', async () => {
    process.env.http_proxy = 'http://127.0.0.1:9'
    onTestFinished(() => void delete process.env.http_proxy)
    await openCredentials(settings).require()
    const before = clock.asked()
    expect(await sign()).toMatchObject({ state: 'trusted', signedAt: expect.stringMatching(/^\d{4}-/) })
    expect(clock.asked() - before).toBe(1)
  })

  it('is never asked for in a private network, unless the configuration allows it', async () => {
    const before = clock.asked()
    for (const timestamp of [clock.address, clock.address.replace('127.0.0.1', 'localhost')]) {
      const own = { timestamp, allowPrivateTimestamp: undefined }
      const trial = openCredentials({ ...settings, ...own }).require()
      await expect(trial).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_TIMESTAMP', exitCode: 2 })
      await expect(sign(own)).rejects.toMatchObject({
        ...{ code: 'ERR_CREDENTIALS_FAILED', message: expect.stringMatching(/gave no time stamp: .*not public/) },
      })
    }
    expect(clock.asked()).toBe(before)
  })

  it.each([
    ['redirects', '/moved', /responded with status 302/],
    ['responds with an error', '/broken', /responded with status 500/],
    ['sends too much', '/large', /larger than 16384 bytes/],
  ])('is missing if the authority %s, and the signature with it', async (_how, path, message) => {
    const failed = sign({ timestamp: new URL(path, clock.address).href })
    await expect(failed).rejects.toMatchObject({
      ...{ code: 'ERR_CREDENTIALS_FAILED', exitCode: 4, message: expect.stringMatching(message) },
    })
  })
})
