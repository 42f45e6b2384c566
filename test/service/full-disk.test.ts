import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import type { RunningService } from '../../src/service/index.js'
import { NO_MOUNTS } from '../helpers/system/mount-space.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'
import { apiClient } from './support/api-client.js'
import { freshFolder, requestToken } from './support/with-service.js'

const DISK_BYTES = 8 * 1024 ** 2

/** Runs its arguments with a small disk of their own at the first word. */
const SMALL_DISK = `mount -t tmpfs -o size=${DISK_BYTES} data "$0" && exec "$@"`

/** A client of a service whose data are on a small disk. */
async function clientOfSmallService() {
  const data = await freshFolder()
  const serve = [process.execPath, CLI_PATH, 'serve', '--json', '--data', data]
  const inSpace = ['--user', '--map-root-user', '--mount', 'sh', '-c', SMALL_DISK, data, ...serve]
  const child = spawn('unshare', inSpace, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
  const { base_url, auth_url, tenant_id, client_id, client_secret, scope } = JSON.parse(value ?? '')
  const service = { baseUrl: base_url, authUrl: auth_url, tenantId: tenant_id } as RunningService
  const form = { client_id, client_secret, scope, grant_type: 'client_credentials' }
  const { access_token } = (await (await requestToken(service, form)).json()) as { access_token: string }
  return apiClient(service, access_token)
}

const title = 'an upload that does not fit on the disk gets a 503, leaves nothing, and the next one fits'

it.skipIf(NO_MOUNTS)(NO_MOUNTS ? `${title} (skipped: ${NO_MOUNTS})` : title, async () => {
  const client = await clientOfSmallService()
  const { file_upload_link: link } = await client.register('voice.wav')
  const large = new Uint8Array(4 * DISK_BYTES)
  for (const query of ['', '&comp=block&blockid=YQ==']) {
    const answer = await client.upload(`${link}${query}`, large)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await answer.text()).toContain('ServerBusy')
  }
  expect((await client.upload(link, new Uint8Array(DISK_BYTES / 4))).status).toBe(201)
})
