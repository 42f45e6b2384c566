import { writingFacts } from '../../media/index.js'
import type { JobPlan } from './plan-job.js'

/** A plan for programs: what is kept, lost, sent and paid. Plain JSON. */
export function planFacts(plan: JobPlan) {
  const { media, output, verdicts, mux, notes, copyReason, paidSec, sendBytes } = plan
  const streams = mux.streams.map(({ input, fate, outputIndex, reason }) => ({
    index: input.index,
    fate,
    outputIndex,
    reason,
  }))
  return {
    media,
    output,
    verdicts,
    losses: mux.losses,
    ...writingFacts(mux),
    streams,
    notes: copyReason === null ? notes : [...notes, copyReason],
    paidSec,
    sendBytes,
  }
}
