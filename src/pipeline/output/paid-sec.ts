import type { Receipt } from './receipt.js'

/** Seconds for which a run was charged: its voices, and the parts without one. */
export function paidSecOf({ voices, voicelessPaidSec }: Pick<Receipt, 'voices' | 'voicelessPaidSec'>): number {
  return voices.reduce((sum, { paidSec }) => sum + paidSec, voicelessPaidSec)
}
