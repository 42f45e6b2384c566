import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunningService } from '../../src/service/index.js'
import { LISTS_LOCKS, locksOn } from '../helpers/system/file-locks.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'
import { freshFolder, requestToken } from './support/with-service.js'

function voxmux(...args: string[]) {
  const child = spawn(process.execPath, [CLI_PATH, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** A command's events, once it has ended well. */
async function events(...args: string[]): Promise<Record<string, unknown>[]> {
  const child = voxmux(...args, '--json')
  child.stdin.end('s3cret\n')
  const lines: Record<string, unknown>[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)))
  expect((await once(child, 'close'))[0]).toBe(0)
  return lines
}

describe('the command line of the service', () => {
  it('serves with a key that works, shows the secret once, and obeys the portal', async () => {
    const data = await freshFolder()
    const child = voxmux('serve', '--json', '--data', data)
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const first = JSON.parse((await lines.next()).value ?? '')
    expect(first).toMatchObject({ event: 'listening', client_secret: expect.stringMatching(/^vxm_/) })
    // Without them a portal command would take itself for the last user of the database and delete its WAL.
    if (LISTS_LOCKS) expect(locksOn(join(data, 'service.db'))).not.toEqual([])
    const service = { baseUrl: first.base_url, authUrl: first.auth_url, tenantId: first.tenant_id } as RunningService
    const form = { client_id: first.client_id, grant_type: 'client_credentials', scope: first.scope }
    const tokenStatus = async (client_secret: string) =>
      (await requestToken(service, { ...form, client_secret })).status
    expect(await tokenStatus(first.client_secret)).toBe(200)

    const [regenerated] = await events('portal', 'keys', 'regenerate', first.client_id, '--data', data)
    expect([await tokenStatus(first.client_secret), await tokenStatus(String(regenerated?.client_secret))]).toEqual([
      401, 200,
    ])
    const hook = 'https://example.com/hook?key=s3cret'
    const [set] = await events('portal', 'webhook', 'set', '--url', hook, '--secret-stdin', '--data', data)
    const [shown] = await events('portal', 'show', '--data', data)
    expect(shown).toMatchObject({ tenant_id: first.tenant_id, webhook: { hasSecret: true, secretPosition: 'header' } })
    expect(JSON.stringify([set, shown])).not.toContain('s3cret')
    const people = voxmux('portal', 'show', '--data', data)
    const text = await Promise.all([textOf(people.stdout), once(people, 'close')])
    const page = voxmux('portal', 'page', '--json', '--data', data)
    page.stdout.once('data', () => page.kill('SIGINT'))
    expect((await once(page, 'close'))[0]).toBe(130)
    expect(text[0]).toMatch(/webhooks .*example\.com\/hook\?\[redacted\]/)

    child.kill('SIGTERM')
    expect(JSON.parse((await lines.next()).value ?? '')).toMatchObject({ event: 'result', exitCode: 0 })
    const again = voxmux('serve', '--json', '--data', data)
    const second = createInterface(again.stdout)[Symbol.asyncIterator]()
    const { client_id, tenant_id } = first
    const started = JSON.parse((await second.next()).value ?? '')
    expect(started).toMatchObject({ client_id, client_secret: null, tenant_id })
    again.kill('SIGINT')
    expect(JSON.parse((await second.next()).value ?? '')).toMatchObject({ event: 'result', exitCode: 130 })
  }, 180_000)
})
