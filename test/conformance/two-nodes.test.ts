import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe } from 'vitest'
import { describeOnPostgres, type PostgresServer } from '../helpers/system/postgres-server.js'
import { AZURITE, AZURITE_MISSING, startAzurite } from '../service/support/azurite.js'
import { freshFolder } from './folder.js'
import { interfaceSuite, ROWS } from './interface-suite.js'
import { serveProcess, type Target } from './target.js'

/** The types of output do not depend on who writes them, and are left to one node and to the soak. */
const SHARED_ROWS = ROWS.filter(({ sentence }) => process.env.VOXMUX_SOAK || !sentence.startsWith('output_type'))

type Node = Awaited<ReturnType<typeof serveProcess>>

/** Two nodes as one target: each request goes to the other one than the request before, and so does each link. */
async function alternating(nodes: readonly [Node, Node], close: () => Promise<void>): Promise<Target> {
  const storage = await Promise.all(nodes.map(storageOrigin))
  let turn = 0
  const next = () => {
    turn = 1 - turn
    return turn as 0 | 1
  }
  return {
    baseUrl: nodes[0].baseUrl,
    name: 'two nodes of voxmux serve',
    voice: nodes[0].voice,
    token: (...form) => nodes[next()].token(...form),
    async post(...request) {
      const at = next()
      const answer = await nodes[at].post(...request)
      const text = (await answer.text()).replaceAll(String(storage[at]), String(storage[1 - at]))
      return new Response(text, { status: answer.status, headers: answer.headers })
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
      await close()
    },
  }
}

async function storageOrigin(node: Node): Promise<string> {
  const answer = await node.post('registerFile', { file_to_register: { client_file_id: 'first.wav' } })
  const { registered_file } = (await answer.json()) as { registered_file: { file_upload_link: string } }
  return new URL(registered_file.file_upload_link).origin
}

async function twoNodes(
  server: PostgresServer,
  folders: readonly [string, string],
  close: () => Promise<void>,
  { flags = [], env = {} }: { flags?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): Promise<Target> {
  const shared = ['--store', server.url, ...flags]
  const first = await serveProcess([...shared, '--data', folders[0]], {}, env)
  // The key that the first one made: the second tells which there is, and not its secret.
  const key = { client_secret: String(first.listening.client_secret) }
  const second = await serveProcess([...shared, '--data', folders[1]], key, env)
  return alternating([first, second], close)
}

describeOnPostgres('the interface, by two nodes over one PostgreSQL and one shared folder', (server) =>
  interfaceSuite(async () => {
    const folder = await freshFolder()
    return twoNodes(server(), [folder.path, folder.path], folder.remove)
  }, SHARED_ROWS),
)

// Only in the soak: nodes.test.ts shares Azure Blob Storage between two nodes, and each storage keeps its own suite.
// A server of its own: in one that was served before, no start makes a key and tells its secret.
describeOnPostgres('the interface, by two nodes over one PostgreSQL and Azure Blob Storage', (server) => {
  describe.skipIf(!AZURITE || !process.env.VOXMUX_SOAK)(
    `from Azurite (${AZURITE ? 'only in the soak' : AZURITE_MISSING})`,
    () =>
      interfaceSuite(async () => {
        const folder = await freshFolder()
        const azurite = await startAzurite(folder.path)
        const settings = join(folder.path, 'service.json')
        await writeFile(settings, JSON.stringify({ azureContainer: 'voices' }))
        const close = async () => {
          await azurite.stop()
          await folder.remove()
        }
        return twoNodes(server(), [join(folder.path, 'one'), join(folder.path, 'other')], close, {
          flags: ['--settings', settings],
          env: { AZURE_STORAGE_CONNECTION_STRING: azurite.connectionString },
        })
      }),
  )
})
