import { cutEncoding } from '../../media/index.js'
import { isUndescribed, type MediaInfo } from '../../media/media-info.js'
import {
  type Limits,
  runRules,
  subjectOfMedia,
  subjectOfVoice,
  subjectTrack,
  type Verdict,
} from '../../precheck/index.js'
import { chunkForecast } from './chunk-lengths.js'
import type { JobSettings } from './job-settings.js'
import { pickedChannels } from './pick-channels.js'
import { type PiecePlan, pieceSec, type TrackPlan } from './plan-tracks.js'

/** Verdicts on the whole file, and on the parts that voxmux would send. */
export interface Verdicts {
  readonly asIs: readonly Verdict[]
  readonly asSent: readonly Verdict[]
}

/** Judges a file before anything is sent, and finds all its problems at once. */
export function judge(media: MediaInfo, tracks: readonly TrackPlan[], settings: JobSettings, limits: Limits): Verdicts {
  const asIs = runRules(subjectOfMedia(media), limits)
  return { asIs, asSent: unique([...undecided(asIs, tracks, settings), ...voices(media, tracks, limits)]) }
}

/** Without a track, or with several and none chosen, no voice can be sent. The file's own verdict applies. */
function undecided(asIs: readonly Verdict[], tracks: readonly TrackPlan[], settings: JobSettings): readonly Verdict[] {
  if (tracks.length === 0) return asIs.filter((found) => found.errorCode === -18)
  const several =
    settings.recipe.track === 'only' && tracks.length > 1 && !tracks.every(({ stream }) => isUndescribed(stream))
  return several ? asIs.filter((found) => found.errorCode === -8) : []
}

function voices(media: MediaInfo, tracks: readonly TrackPlan[], limits: Limits): readonly Verdict[] {
  return tracks.flatMap(({ stream, pieces }) =>
    pieces.flatMap((piece) => {
      const channels = pickedChannels(piece.channels, stream)
      const subject = subjectOfVoice({
        track: subjectTrack(stream),
        channels,
        channelLayout: channels === stream.channels ? stream.channelLayout : null,
        durationSec: longestSec(pieceSec(media, stream, piece), piece),
        encoding: cutEncoding(stream, channels),
      })
      const found = runRules(subject, limits)
      return tracks.length > 1 ? found.map((verdict) => naming(stream.audioIndex, verdict)) : found
    }),
  )
}

/** A verdict that names its track, as that of a whole file does. */
function naming(audioIndex: number, verdict: Verdict): Verdict {
  const { message } = verdict
  return { ...verdict, message: `Audio track ${audioIndex}: ${message.charAt(0).toLowerCase()}${message.slice(1)}` }
}

/** The longest part that is sent, because a long voice is divided. */
function longestSec(sec: number | null, { chunks }: PiecePlan): number | null {
  return sec === null ? null : chunkForecast(sec, chunks).longestSec
}

function unique(verdicts: readonly Verdict[]): readonly Verdict[] {
  const seen = new Map(verdicts.map((found) => [`${found.errorCode} ${found.message}`, found]))
  return [...seen.values()]
}
