import { formatTime } from '../../core/time.js'
import type { MediaInfo } from '../../media/media-info.js'
import type { PiecePlan, TrackPlan } from './plan-tracks.js'

/** Says how much of a track is sent and paid for twice, because the handles of near parts overlap. */
export function handleNotes(
  { durationSec }: Pick<MediaInfo, 'durationSec'>,
  { stream, pieces }: TrackPlan,
): readonly string[] {
  const fileEnd = Math.round((durationSec ?? 0) * stream.sampleRate)
  let twice = 0
  const latest = new Map<string, number>()
  for (const { channels, cut } of [...pieces].sort(byStart)) {
    const voice = channels.kind === 'one' ? `${channels.channel}` : channels.kind
    const sentTo = latest.get(voice) ?? 0
    const endSample = cut.endSample ?? fileEnd
    twice += Math.max(0, Math.min(sentTo, endSample) - cut.startSample)
    latest.set(voice, Math.max(sentTo, endSample))
  }
  if (twice === 0) return []
  const time = formatTime(twice / stream.sampleRate)
  return [
    `Audio track ${stream.audioIndex}: ${time} is sent more than once, because the handles of near parts overlap. Write such parts as one to pay less.`,
  ]
}

function byStart(one: PiecePlan, other: PiecePlan): number {
  return one.cut.startSample - other.cut.startSample
}
