import { expect, it } from 'vitest'
import { holdVoice, openLedger } from '../../src/ledger/index.js'
import { testFolder } from '../helpers/media-factory.js'

it('a lease that cannot be renewed is not confirmed: another process may have the voice, and start it', async () => {
  const folder = await testFolder()
  const ledger = await openLedger(folder.file('ledger.sqlite'))
  const held = await holdVoice(ledger.voices, 'v')
  await held.confirm()
  await ledger.close()
  await expect(held.confirm()).rejects.toThrow()
  // The renewals by the clock go on, and may succeed before the lease is over.
  expect(held.signal.aborted).toBe(false)
  await held.release().catch(() => {})
  await folder.remove()
})
