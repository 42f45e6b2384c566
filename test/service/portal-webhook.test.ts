import { expect, it, onTestFinished } from 'vitest'
import { startPortalPage } from '../../src/cli/portal-page/start-portal-page.js'
import { openPortal } from '../../src/service/index.js'
import { commandInProcess } from '../helpers/command-in-process.js'
import { freshFolder } from './support/with-service.js'

const REFUSED = /outside the public internet.*--allow-private-urls/

it.each([
  ['http://127.0.0.1:9000/hook', true],
  ['http://[::1]:9000/hook', true],
  ['https://192.168.4.20/hook', true],
  ['http://169.254.169.254/latest', true],
  // A name that means this machine wherever the service is.
  ['http://localhost:9000/hook', true],
  ['https://93.184.215.14/hook', false],
  // A name that only the machine of the service may know.
  ['https://hook.invalid/', false],
])('portal webhook set %s warns if the service will refuse to call it: %s', async (url, isRefused) => {
  const data = await freshFolder()
  const options = { cwd: data, env: { HOME: data } }
  await commandInProcess(['portal', 'account', 'create', '--name', 'studio', '--data', data], options)
  const set = ['portal', 'webhook', 'set', '--url', url, '--data', data]
  const { code, stdout, stderr } = await commandInProcess(set, options)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Webhooks are sent to POST /)])
  expect(REFUSED.test(stderr)).toBe(isRefused)
})

it('the page of the portal warns too', async () => {
  const portal = await openPortal({ dataDir: await freshFolder() })
  const page = await startPortalPage(portal, 0)
  onTestFinished(async () => {
    await page.close()
    await portal.close()
  })
  const { origin, pathname } = new URL(page.url)
  const body = JSON.stringify({
    account: 'local',
    url: 'http://127.0.0.1:9/',
    method: 'POST',
    secretPosition: 'header',
  })
  const headers = { origin, 'x-voxmux-token': pathname.replaceAll('/', '') }
  const response = await fetch(`${page.url}api/webhook`, { method: 'POST', headers, body })
  expect(await response.json()).toMatchObject({ warning: expect.stringMatching(REFUSED) })
})
