import { rehearseMux } from '../../media/index.js'
import type { MuxPlan } from '../../media/write/remux/mux-plan.js'
import type { TrackPlan } from './plan-tracks.js'

interface PlannedOutput {
  readonly mux: MuxPlan
  readonly tracks: readonly TrackPlan[]
  readonly copyReason: string | null
}

/** Tries the output of a plan before anything is sent. A copy needs no trial. @throws as {@link rehearseMux} */
export async function rehearse(
  { mux, tracks, copyReason }: PlannedOutput,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (copyReason !== null) return
  const mixed = tracks.filter(({ pieces }) => pieces[0]?.channels.kind === 'downmix')
  await rehearseMux(mux, { downmixed: new Set(mixed.map(({ stream }) => stream.audioIndex)), signal })
}
