import type { MuxPlan } from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'
import type { JobSettings } from './job-settings.js'
import type { TrackPlan } from './plan-tracks.js'

/** The tracks that the output must replace: those with a voice to send, or all if each changes anyway. */
export function tracksToReplace(tracks: readonly TrackPlan[], settings: JobSettings): readonly TrackPlan[] {
  const sent = tracks.filter(({ pieces }) => pieces.length > 0)
  return sent.length === 0 || changesAnyway(settings) ? tracks : sent
}

/** Why nothing is sent and the output is a copy of the input. Null if a voice is sent, or the output differs anyway. */
export function copyReason(
  media: MediaInfo,
  tracks: readonly TrackPlan[],
  settings: JobSettings,
  mux: MuxPlan,
): string | null {
  const isSent = tracks.some(({ pieces }) => pieces.length > 0)
  if (isSent || tracks.length === 0 || changesAnyway(settings) || mux.container !== media.container) return null
  return settings.recipe.mix === 0
    ? 'The mix is 0, so nothing was sent and the output is a copy of the input.'
    : 'No noise was found in the voice, so nothing was sent and the output is a copy of the input.'
}

function changesAnyway({ recipe, outputType }: JobSettings): boolean {
  return recipe.loudness !== null || recipe.keepOriginal || recipe.channels === 'downmix' || outputType !== null
}
