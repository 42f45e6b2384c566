import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { isCertainlyDead, thisHolder } from '../../ledger/index.js'

const ownerSchema = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  startTicks: z.string().nullable(),
})

/** Names this node as the owner of leases: each call is another owner in the same process. */
export function newLeaseOwner(): string {
  return JSON.stringify({ id: randomUUID(), ...thisHolder() })
}

/** True if the process of an owner certainly ended. The leases of another machine, or of an older voxmux, run out by time. */
export function isDeadOwner(owner: string): boolean {
  if (!owner.startsWith('{')) return false
  const holder = ownerSchema.safeParse(JSON.parse(owner))
  return holder.success && isCertainlyDead(holder.data)
}
