import type { MuxPlan } from './mux-plan.js'

/**
 * Seconds before zero that an output leaves out. Matroska places the lead-in of an Opus encoder there, which players skip.
 * Only a picture, and Matroska itself, keep that clock.
 */
export function earlyLeadInSec({ media, container, profile, streams }: MuxPlan): number {
  const hasPicture = streams.some(({ fate, input }) => fate !== 'dropped' && input.kind === 'video' && !input.isCover)
  if (media.container === container || profile.priming === 'measured' || hasPicture) return 0
  return Math.max(0, 0 - media.startSec)
}
