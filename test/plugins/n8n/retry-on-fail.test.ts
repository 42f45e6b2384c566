import { expect, it } from 'vitest'
import { eachItem } from '../../../plugins/n8n/flow/each-item.js'
import { NODE_OPERATIONS } from '../../../plugins/n8n/flow/operations.js'
import { openSession } from '../../../plugins/n8n/flow/session.js'
import { faultyService } from '../../helpers/system/faulty-service.js'
import { numberedVoice } from '../node-faults.js'
import { n8nHost } from './n8n-host.js'

it('pays for no finished item again when n8n retries the node because of another', async () => {
  const service = await faultyService()
  const files = [numberedVoice(0), Buffer.from('not a sound')]
  const host = n8nHost(service, files)
  /** As the node runs its items, one after the other. */
  const execute = async () => {
    const session = await openSession(host)
    return eachItem(files.length, 1, undefined, (index, signal) =>
      NODE_OPERATIONS.regenerate({ host, session, index, signal }),
    )
  }
  await expect(execute()).rejects.toThrow()
  files[1] = numberedVoice(1)
  const [first] = await execute()
  expect(Buffer.from(first?.binary?.data?.data ?? '', 'base64')).toEqual(numberedVoice(0))
  // The voice, the bad file and its correction.
  expect(service.files.size).toBe(3)
})
