import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunningService, StorePlace } from '../../src/service/index.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'
import { startScript } from '../ledger/run-script.js'
import { freshFolder, requestToken } from './support/with-service.js'

/** Services that two nodes start at the same instant. */
const STARTS = process.env.VOXMUX_SOAK ? 25 : 1
/** Users of whom two processes want the first key at once. */
const USERS = process.env.VOXMUX_SOAK ? 2000 : 50

/**
 * A process that makes sure of the first keys of all users, once it is told to. A store that a busy machine lets wait
 * for too long is asked again, as clients do.
 */
const keyMaker = (place: StorePlace, group: string) =>
  startScript(`
    import { openPortal } from './dist/src/service/index.js'
    const portal = await openPortal(${JSON.stringify(place)})
    process.stdin.once('data', async () => {
      const users = Array.from({ length: ${USERS} }, (_, n) => ${JSON.stringify(group)} + n)
      const ensured = (name) =>
        portal.accounts.ensure(name).then(({ id }) => portal.keys.ensure(id, 'serve')).catch((error) => {
          if (error.code === 'ERR_STORE_UNREACHABLE') return ensured(name)
          throw error
        })
      const keys = await Promise.all(users.map(ensured))
      process.stdout.write(JSON.stringify(keys) + '\\n')
    })
    process.stdout.write('"ready"\\n')
  `)

async function oneKeyEach(place: StorePlace): Promise<void> {
  const group = `${randomUUID()} `
  const makers = [keyMaker(place, group), keyMaker(place, group)]
  for (const { line } of makers) expect(await line()).toBe('ready')
  for (const { child } of makers) child.stdin?.write('go\n')
  const [mine, theirs] = (await Promise.all(makers.map(({ line }) => line()))) as {
    readonly clientId: string
    readonly clientSecret: string | null
  }[][]
  const ids = (keys: typeof mine) => keys?.map(({ clientId }) => clientId)
  expect(new Set(ids(mine)).size).toBe(USERS)
  expect(ids(mine)).toEqual(ids(theirs))
  const shown = mine?.map(({ clientSecret }, n) => [clientSecret, theirs?.[n]?.clientSecret].filter(Boolean).length)
  expect(shown?.filter((count) => count !== 1)).toEqual([])
}

/** What `voxmux serve` says when it listens. */
async function listening(store: string, data: string): Promise<Record<string, string | null>> {
  const args = [CLI_PATH, 'serve', '--json', '--store', store, '--data', data]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) return JSON.parse(line)
  throw new Error('It ended without a word.')
}

describe('the first key of a service in a folder', () => {
  it('is made by one of two processes', async () => {
    await oneKeyEach({ dataDir: await freshFolder() })
  })
})

describeOnPostgres('the first key of a service on PostgreSQL', (server) => {
  it('is made by one of two processes', async () => {
    await oneKeyEach({ store: server().url })
  })

  it('is shown by one of two nodes that start at the same instant, and good at both', async () => {
    for (let start = 0; start < STARTS; start += 1) {
      server().query('DROP SCHEMA voxmux CASCADE; CREATE SCHEMA AUTHORIZATION voxmux')
      const data = await freshFolder()
      const nodes = await Promise.all([listening(server().url, data), listening(server().url, data)])
      const secrets = nodes.flatMap(({ client_secret }) => client_secret ?? [])
      expect(secrets).toHaveLength(1)
      expect(nodes[0]?.client_id).toBe(nodes[1]?.client_id)
      for (const { base_url, auth_url, tenant_id, scope, client_id } of nodes) {
        const service = { baseUrl: base_url, authUrl: auth_url, tenantId: tenant_id } as RunningService
        const form = { client_id: String(client_id), client_secret: String(secrets[0]), scope: String(scope) }
        expect((await requestToken(service, { ...form, grant_type: 'client_credentials' })).status).toBe(200)
      }
    }
  }, 600_000)
})
