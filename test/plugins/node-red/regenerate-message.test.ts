import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { regenerateMessage } from '../../../plugins/node-red/regenerate-message.js'
import type { ServiceNode } from '../../../plugins/node-red/service-node.js'
import { VoxmuxClient } from '../../../src/client/index.js'
import { FaultServer } from '../../helpers/fault-server.js'
import { fixture } from '../../helpers/job-bench.js'
import { freshFolder } from '../../service/support/with-service.js'

it('refuses an empty payload, and an output that leads to its input through a link, before anything is sent', async () => {
  const server = await FaultServer.start()
  const client = new VoxmuxClient(server.clientOptions)
  onTestFinished(async () => {
    client.close()
    await server.close()
  })
  const folder = await freshFolder()
  await mkdir(join(folder, 'in'))
  await symlink('in', join(folder, 'link'))
  const payload = join(folder, 'in', 'speech.wav')
  await copyFile(fixture('speech.wav'), payload)
  const service = { client, model: '', webhookSecret: undefined } as unknown as ServiceNode
  const config = { output: '', outputType: '', webhook: false }
  const options = { service, config, signal: new AbortController().signal, onPercent: () => {} }
  const running = regenerateMessage({ payload, output: join(folder, 'link', 'speech.wav') }, options)
  await expect(running).rejects.toMatchObject({ code: 'ERR_BAD_OPTION' })
  for (const nothing of ['', Buffer.alloc(0)])
    await expect(regenerateMessage({ payload: nothing }, options)).rejects.toThrow('msg.payload is empty.')
  expect(server.calls.registerFile).toBe(0)
})
