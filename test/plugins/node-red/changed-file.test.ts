import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { regenerateMessage } from '../../../plugins/node-red/regenerate-message.js'
import type { Message } from '../../../plugins/node-red/runtime.js'
import type { ServiceNode } from '../../../plugins/node-red/service-node.js'
import { VoxmuxClient } from '../../../src/client/voxmux-client.js'
import { faultyService } from '../../helpers/system/faulty-service.js'
import { freshFolder } from '../../service/support/with-service.js'
import { numberedVoice } from '../node-faults.js'

it('sends a file again that was replaced since its message was sent, and no other', async () => {
  const service = await faultyService()
  const folder = await freshFolder()
  const client = new VoxmuxClient({ ...service.options })
  onTestFinished(() => client.close())
  const node = { client, model: 'regen_v1' } as ServiceNode
  const [input, output] = [join(folder, 'take.wav'), join(folder, 'out.wav')]
  const message: Message = { payload: input, output }
  /** As a flow that wires its catch node back sends the same message again. */
  const run = async () => {
    const config = { output: '', outputType: '', webhook: false }
    const { signal } = new AbortController()
    await regenerateMessage(message, { service: node, config, signal, onPercent: () => {} })
    message.payload = input
    return [service.files.size, await readFile(output)]
  }
  await writeFile(input, numberedVoice(0))
  expect(await run()).toEqual([1, numberedVoice(0)])
  expect(await run()).toEqual([1, numberedVoice(0)])
  await writeFile(input, numberedVoice(1))
  expect(await run()).toEqual([2, numberedVoice(1)])
  // It is paid: its output can be had although the file is gone.
  await rm(input)
  expect(await run()).toEqual([2, numberedVoice(1)])
})
