import { writingFacts } from '../../media/index.js'
import type { JobPlan } from './plan-job.js'

/** A plan for programs: what is kept, lost, sent and paid. Plain JSON. */
export function planFacts(plan: JobPlan) {
  const { media, output, verdicts, mux, notes, copyReason, paidSec, sendBytes } = plan
  const { losses, streams } = mux
  return {
    ...{ media, output, verdicts, losses },
    ...writingFacts(mux),
    streams: streams.map(({ input: { index }, fate, outputIndex, reason }) => ({ index, fate, outputIndex, reason })),
    notes: copyReason === null ? notes : [...notes, copyReason],
    ...{ paidSec, sendBytes },
  }
}
