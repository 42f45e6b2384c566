import { Readable } from 'node:stream'
import type { IExecuteFunctions } from 'n8n-workflow'
import { expect } from 'vitest'
import { NODE_OPERATIONS, type Turn } from '../../../plugins/n8n/flow/operations.js'
import type { Session } from '../../../plugins/n8n/flow/session.js'
import { resolveClientOptions } from '../../../src/client/client-options.js'
import { ServiceApi } from '../../../src/client/service-api.js'
import { StatusWatcher } from '../../../src/client/status-watcher.js'
import { TokenProvider } from '../../../src/client/token-provider.js'
import { createTransport } from '../../../src/client/transport.js'
import { silentLogger } from '../../../src/core/logger.js'
import { errorOf, QUICK, test } from '../../client/harness.js'
import type { FaultServer } from '../../helpers/fault-server.js'

/** One execution of n8n with one item, over real HTTP. n8n itself is in `real-n8n.test.ts`. */
function executionAt(server: FaultServer, bytes: Buffer): Turn {
  const options = resolveClientOptions({ ...server.clientOptions, ...QUICK })
  const wire = createTransport(options.timeouts)
  const put: Session['transport']['put'] = ({ body, ...exchange }) =>
    wire.putStream({ ...exchange, body: Readable.from([body as Buffer]), contentLength: bytes.length })
  const open = () => Promise.reject(new Error('nothing is downloaded here'))
  const api = new ServiceApi(options, wire, new TokenProvider(options, wire, silentLogger), silentLogger)
  const watcher = new StatusWatcher((ids, signal) => api.getFilesStatus(ids, { signal }), options.polling, silentLogger)
  const parameters: Record<string, unknown> = { inputField: 'data', options: {} }
  const host = {
    getExecutionId: () => server.clientOptions.baseUrl,
    getNode: () => ({ id: 'node' }),
    getNodeParameter: (name: string) => parameters[name],
    helpers: {
      assertBinaryData: () => ({ fileName: 'voice.wav' }),
      getBinaryDataBuffer: async () => bytes,
    },
  } as unknown as IExecuteFunctions
  const session = { options, model: 'regen_v1', transport: { ...wire, put, open }, api, watcher }
  return { host, session, index: 0, signal: new AbortController().signal }
}

test('a file that the service has lost is registered again at the next try of n8n', async ({ server }) => {
  const turn = executionAt(server, Buffer.from('a voice'))
  server.fail('startProcess', { kind: 'status', status: 503 }, 4)
  expect(await errorOf(NODE_OPERATIONS.start(turn))).toMatchObject({ exitCode: 4 })
  const lost = turn.fileId as string
  expect(server.calls.registerFile).toBe(1)

  const unknown = [{ id: lost, status: 'NotFound', errorCode: -11, progress: 0 }]
  server.fail('getFilesStatus', { kind: 'answer', body: unknown }, Number.POSITIVE_INFINITY)
  server.fail('startProcess', { kind: 'status', status: 404 }, Number.POSITIVE_INFINITY)
  expect(await errorOf(NODE_OPERATIONS.start(turn))).toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(server.calls.registerFile).toBe(1)

  server.heal()
  const { json } = await NODE_OPERATIONS.start(turn)
  expect(json.fileId).not.toBe(lost)
  expect([server.calls.registerFile, server.charges]).toEqual([2, 1])
  // A file that the service has is not sent again.
  expect((await NODE_OPERATIONS.start(turn)).json).toEqual(json)
  expect([server.calls.registerFile, server.charges]).toEqual([2, 1])
})

test('a file that arrived with other bytes is sent again before it is paid for', async ({ server }) => {
  const bytes = Buffer.from('a voice')
  server.storage.spoiledUploads = 2
  await NODE_OPERATIONS.start(executionAt(server, bytes))
  expect([server.calls.upload, server.calls.registerFile, server.charges]).toEqual([3, 1, 1])
  expect((await server.files[0]?.input())?.equals(bytes)).toBe(true)
})

test('a file whose response was lost is stored if the storage then says 409', async ({ server }) => {
  server.fail('upload', { kind: 'reset-after' })
  server.fail('upload', { kind: 'status', status: 409 })
  const { json } = await NODE_OPERATIONS.start(executionAt(server, Buffer.from('a voice')))
  expect([json.fileId, server.calls.registerFile, server.charges]).toEqual([server.files[0]?.id, 1, 1])
})
