import { randomUUID } from 'node:crypto'
import { isCertainlyDead, thisHolder } from '../../ledger/index.js'

/** Names this node as the owner of leases: each call is another owner in the same process. */
export function newLeaseOwner(): string {
  return JSON.stringify({ id: randomUUID(), ...thisHolder() })
}

/** True if the process of an owner certainly ended. The leases of another machine, or of an older voxmux, run out by time. */
export function isDeadOwner(owner: string): boolean {
  return owner.startsWith('{') && isCertainlyDead(JSON.parse(owner))
}
