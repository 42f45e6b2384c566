import type { MuxPlan } from '../../media/index.js'
import { isNewStream, type NewStream } from '../../media/write/remux/plan-streams.js'
import type { JobSettings } from './job-settings.js'
import type { TrackPlan } from './plan-tracks.js'

interface PlannedOutput extends Pick<MuxPlan, 'media'> {
  readonly tracks: readonly TrackPlan[]
  readonly mux: MuxPlan
}

/** The tracks that the output must replace: those with a voice to send, or all if each changes anyway. */
export function tracksToReplace(tracks: readonly TrackPlan[], settings: JobSettings): readonly TrackPlan[] {
  const sent = tracks.filter(({ pieces }) => pieces.length > 0)
  return sent.length === 0 || changesAnyway(settings) ? tracks : sent
}

/** Why nothing is sent and the output is a copy of the input. Null if a voice is sent, or the output differs anyway. */
export function copyReason({ media, tracks, mux }: PlannedOutput, settings: JobSettings): string | null {
  const isSent = tracks.some(({ pieces }) => pieces.length > 0)
  if (isSent || tracks.length === 0 || changesAnyway(settings) || mux.container !== media.container) return null
  return settings.recipe.mix === 0
    ? 'The mix is 0, so nothing was sent and the output is a copy of the input.'
    : 'No noise was found in the voice, so nothing was sent and the output is a copy of the input.'
}

/**
 * True if the output is a copy of the input as soon as the regenerated audio is the same as the sent voice. Otherwise
 * another encoding would cost lossy tracks quality for nothing. A lossless track gets every bit that came back.
 */
export function isCopyIfSame({ media, tracks, mux }: PlannedOutput, settings: JobSettings): boolean {
  if (changesAnyway(settings) || settings.signed || mux.container !== media.container) return false
  const isFolded = tracks.some(({ pieces }) => pieces.some(({ channels }) => channels.kind === 'downmix'))
  const staysLossy = ({ fate, encoding, input }: NewStream) =>
    fate === 'replaced' && !encoding.lossless && encoding.codec === input.codec
  return !isFolded && mux.streams.filter(isNewStream).every(staysLossy)
}

function changesAnyway({ recipe, outputType }: JobSettings): boolean {
  return recipe.loudness !== null || recipe.keepOriginal || recipe.channels === 'downmix' || outputType !== null
}
