import { rehearseMux } from '../../media/index.js'
import type { JobPlan } from './plan-job.js'

/** Tries the output of a plan before anything is sent. A copy needs no trial. @throws as {@link rehearseMux} */
export async function rehearse(
  { mux, tracks, copyReason }: Pick<JobPlan, 'mux' | 'tracks' | 'copyReason'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (copyReason !== null) return
  const mixed = tracks.filter(({ pieces }) => pieces[0]?.channels.kind === 'downmix')
  await rehearseMux(mux, { downmixed: new Set(mixed.map(({ stream }) => stream.audioIndex)), signal })
}
