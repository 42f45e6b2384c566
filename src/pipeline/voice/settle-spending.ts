import type { VoxmuxClient } from '../../client/index.js'
import { chargeId } from '../../ledger/index.js'
import { steadyStatus } from './steady-status.js'
import { serviceMark, type VoiceServiceContext } from './voice-service.js'

type SettleContext = Pick<VoiceServiceContext, 'serviceIdentity' | 'spending' | 'voices' | 'logger'>

/**
 * Settles the reservations of processes that stopped before they learned whether a start had been accepted. A file that
 * the service has started is committed, and one that was certainly never started is released. Any other reservation
 * stays, because a start may still be on its way. A reservation at another service is not asked about: the same id may be
 * another file here.
 *
 * Never rejects: a reservation that cannot be settled now is settled by a later process.
 */
export async function settleSpending(client: VoxmuxClient, context: SettleContext, signal: AbortSignal): Promise<void> {
  const { serviceIdentity, spending, logger } = context
  // The key of the voice ends there, and the file id follows.
  const mark = `${serviceMark(serviceIdentity)} `
  try {
    for (const reserved of await spending.reserved()) {
      if (signal.aborted) return
      if (reserved.id.includes(mark)) await settleOne(reserved, client, context, signal)
    }
  } catch (cause) {
    logger.debug({ cause }, 'Reserved spending was not settled')
  }
}

async function settleOne(
  { id, sec }: { readonly id: string; readonly sec: number },
  client: VoxmuxClient,
  { spending, voices }: SettleContext,
  signal: AbortSignal,
): Promise<void> {
  const fileId = id.slice(id.indexOf(' ') + 1)
  const known = (await voices.allByFileId(fileId)).find(({ key }) => chargeId(key, fileId) === id)
  if (!known) return
  const claim = await voices.claim(known.key)
  // A process that works on the voice settles it itself.
  if (claim.outcome === 'held') return
  const { voice, lease } = claim
  try {
    const isCurrent = voice.fileId === fileId
    if (isCurrent && (voice.status === 'registered' || voice.status === 'uploaded')) return await spending.release(id)
    const status = await steadyStatus(client, fileId, signal)
    if (status === undefined || status === 'NotFound' || status === 'Pending') return
    await spending.commit(id, sec)
    if (isCurrent && voice.status === 'starting') await voices.advance(lease, { status: 'started' })
  } finally {
    await voices.release(lease)
  }
}
