import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startPortalPage } from '../../src/cli/portal-page/start-portal-page.js'
import { openPortal } from '../../src/service/index.js'
import { NO_CHROMIUM, openChromium } from '../helpers/system/chromium.js'
import { isAccessible } from '../helpers/system/is-accessible.js'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { webhookReceiver } from './support/webhook-receiver.js'
import { freshFolder, requestToken, withService } from './support/with-service.js'

async function openPage(dataDir: string) {
  const portal = await openPortal({ dataDir })
  const page = await startPortalPage(portal, 0)
  onTestFinished(async () => {
    await page.close()
    await portal.close()
  })
  return { portal, url: page.url }
}

describe('the portal as a page', () => {
  it('refuses readers without its token, other hosts, and changes from elsewhere', async () => {
    const { url } = await openPage(await freshFolder())
    const { origin, pathname } = new URL(url)
    const token = pathname.replaceAll('/', '')
    const status = async (path: string, init?: RequestInit) => (await fetch(`${origin}${path}`, init)).status
    expect([await status('/'), await status('/api/portal'), await status(`/${'x'.repeat(43)}/api/portal`)]).toEqual([
      403, 403, 403,
    ])
    expect(await status(`/${token}/api/portal`)).toBe(200)
    const body = JSON.stringify({ account: 'local', name: 'ci' })
    const own = { origin, 'x-voxmux-token': token }
    const post = (headers: Record<string, string>, sent = body) =>
      status(`/${token}/api/keys`, { method: 'POST', headers, body: sent })
    expect(await post({ ...own, origin: 'https://evil.example' })).toBe(403)
    expect(await post({ origin })).toBe(403)
    expect(await post(own, '{"account":"local"}')).toBe(400)
    expect(await post(own)).toBe(200)
    const said = await (await fetch(`${url}api/portal`)).text()
    expect(said).toContain('"name":"ci"')
    expect(said).not.toMatch(/vxm_|secret_hash|secretHash/)
  })
})

describe.skipIf(NO_CHROMIUM)(`its buttons${NO_CHROMIUM ? ` (skipped: ${NO_CHROMIUM})` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser.close())

  it('make, renew and revoke a key, and set credits and a webhook, whose events can be sent again', async () => {
    const receiver = await webhookReceiver()
    const settings = { webhooks: { baseDelayMs: 20, maxDelayMs: 50, pollMs: 20, attempts: 1 } }
    const service = await withService({ engine: plainEngine, settings, allowPrivateUrls: true })
    const { portal, url } = await openPage(service.dataDir)
    await portal.accounts.create('a'.repeat(200))
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('dialog', (dialog) => void dialog.accept())
    await page.goto(url)
    await page.getByText('unlimited', { exact: true }).waitFor()

    const shownSecret = async () => String(await page.locator('#secret .secret').textContent())
    const tokenStatus = async (secret: string) => {
      const [key] = await portal.keys.list()
      const form = { client_id: key?.clientId ?? '', client_secret: secret, grant_type: 'client_credentials' }
      return (await requestToken(service, { ...form, scope: service.scope })).status
    }
    await page.getByLabel('Name of a new key').fill('<b>ci</b>')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('<b>ci</b>: copy the secret now.').waitFor()
    const first = await shownSecret()
    expect(await tokenStatus(first)).toBe(200)
    await page.getByRole('button', { name: 'Regenerate <b>ci</b>' }).click()
    await vi.waitFor(async () => expect(await shownSecret()).not.toBe(first), { timeout: 20_000 })
    const second = await shownSecret()
    expect([await tokenStatus(first), await tokenStatus(second)]).toEqual([401, 200])
    // Shown once: a reload does not bring it back.
    await page.reload()
    await page.getByRole('button', { name: 'Revoke <b>ci</b>' }).waitFor()
    expect(await page.content()).not.toContain(second)

    await page.getByLabel('Address').fill(`${receiver.url}/${'hook'.repeat(60)}`)
    await page.getByLabel('Secret (empty keeps').fill('hook-secret')
    await page.getByRole('button', { name: 'Save webhook' }).click()
    await page.getByText('with a secret in the header').waitFor()
    await page.getByLabel('Seconds of credit').fill('100')
    await page.getByRole('button', { name: 'Set credits' }).click()
    await page.getByText('100 s', { exact: true }).waitFor()

    const client = await apiClient(service)
    const { file_id, file_upload_link } = await client.register('voice.wav')
    await client.upload(file_upload_link, await fixtureVoice())
    await client.start(file_id, { webhook: true })
    await client.ended(file_id)
    await page.getByText('1 file, 0 failed').waitFor()
    const redeliver = page.getByRole('button', { name: /Redeliver/ })
    await vi.waitFor(async () => expect(await redeliver.count()).toBe(5), { timeout: 20_000 })
    await redeliver.first().click()
    await vi.waitFor(() => expect(receiver.arrived).toHaveLength(6), { timeout: 20_000 })
    expect(receiver.arrived[5]?.event.message).toEqual(receiver.arrived[4]?.event.message)
    expect(receiver.arrived[5]?.headers.authorization).toBe('Bearer hook-secret')

    await isAccessible(page, 'portal')
    await page.setViewportSize({ width: 390, height: 844 })
    // Nothing of a table is cut on a phone.
    for (const button of await page.locator('td button').all()) {
      const { x, width } = (await button.boundingBox()) ?? { x: 390, width: 390 }
      expect(x + width).toBeLessThanOrEqual(390)
    }
    await page.getByRole('button', { name: 'Revoke <b>ci</b>' }).click()
    await page.getByText(/^revoked /).waitFor()
    expect(await tokenStatus(second)).toBe(401)
    await page.getByRole('button', { name: 'Remove webhook' }).click()
    await page.getByText('No address is set.').waitFor()
    expect(faults).toEqual([])
    await page.goto(`${service.baseUrl}/api/v1/docs`)
    await isAccessible(page, 'docs')
  }, 180_000)
})
