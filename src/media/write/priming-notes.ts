import { lateSecOf } from '../media-info.js'
import { type AudioChoices, mixedTrack } from './encode/audio-encoding.js'
import { encoderPriming, matroskaPriming } from './encode/encoder-priming.js'
import { newStreams } from './remux/mux-command.js'
import type { MuxPlan } from './remux/mux-plan.js'
import type { NewStream } from './remux/plan-streams.js'

/** The plan lists what Windows Media loses, which is more than priming. */
const LISTED = /^wma/

/** Names the first sound of each new track that the priming of its encoder replaces. */
export async function primingNotes(
  plan: MuxPlan,
  options: Pick<AudioChoices, 'mixedTo'> & { readonly signal?: AbortSignal | undefined },
): Promise<readonly string[]> {
  const notes: string[] = []
  for (const [place, stream] of newStreams(plan).entries()) {
    const { encoding, input } = stream
    if (encoding.lossless || LISTED.test(encoding.codec) || !(await isTrimmed(plan, place, stream, options.signal)))
      continue
    const samples = await encoderPriming(encoding, mixedTrack(input, options), options.signal)
    const replacedMs = Math.round(1000 * (samples / input.sampleRate - lateSecOf(plan.media, input)))
    if (replacedMs < 1) continue
    const why = `because .${plan.container} cannot state its length`
    notes.push(
      `Audio track ${input.audioIndex}: the priming of its encoder replaces the first ${replacedMs} ms, ${why}.`,
    )
  }
  return notes
}

/** True if an output does not state the priming of a track that is encoded from its start. */
async function isTrimmed(
  { writing, profile, splicedTracks }: MuxPlan,
  place: number,
  { encoding, input }: NewStream,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (writing.kind === 'bytes') {
    return writing.donors[place]?.priming === 'trimmed' && !splicedTracks?.includes(input.audioIndex)
  }
  if (profile.priming !== 'measured') return profile.priming === 'unsignalled'
  return encoding.codec !== 'opus' && !(await matroskaPriming(encoding, input, signal)).isSignalled
}
