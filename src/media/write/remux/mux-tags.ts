import { isOgg, streamWithFileTags } from '../../probe/file-tags.js'
import { isMovieProfile } from '../container-profile.js'
import { staleReason } from '../stale-facts.js'
import { freeTagOptions } from './mend/free-tags.js'
import { quickTimeLanguage } from './mend/languages.js'
import { titleWithRoom } from './mend/track-mark.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'
import { oldFactTags } from './old-fact-tags.js'
import { isNewStream, type WrittenStream } from './plan-streams.js'

/** Packet statistics that some muxers write as tags; wrong after the track is re-encoded. */
export const STATISTICS = /^(BPS|DURATION|NUMBER_OF_FRAMES|NUMBER_OF_BYTES|_STATISTICS_\w+)(-\w+)?$/i

/** Copies the tags of the file. An Ogg of several streams has only those that all its streams state. */
export function fileMetadata({ media, streams }: MuxPlan): readonly string[] {
  const source = streamWithFileTags(media)
  const common = isOgg(media.container) && !source ? Object.entries(media.tags) : []
  const stale = oldFactTags(media, streams).map((name) => [name, ''] as const)
  const changed = [...common, ...stale].flatMap(([name, value]) => ['-metadata', `${name}=${value}`])
  return ['-map_metadata', source ? `0:s:${source.index}` : '0', ...changed]
}

/** Copies the tags of a stream to its place in the output, and sets what the plan changes. */
export function streamMetadata(plan: MuxPlan, stream: PlannedStream): readonly string[] {
  if (stream.fate === 'dropped') return []
  const target = `-metadata:s:${stream.outputIndex}`
  const isFileTagged = streamWithFileTags(plan.media) === stream.input
  const copied = [`-map_metadata:s:${stream.outputIndex}`, isFileTagged ? '-1' : `0:s:${stream.input.index}`]
  const stale = isNewStream(stream)
    ? Object.keys(stream.input.tags).filter(
        (name) => STATISTICS.test(name) || name.toLowerCase() === 'encoder' || staleReason(name) !== null,
      )
    : []
  const room = stream.fate === 'added' && stream.title !== null ? titleWithRoom(stream.title, plan.container) : null
  const title = stream.title !== null ? [target, `title=${room ?? stream.title}`] : []
  return [
    ...copied,
    ...stale.flatMap((name) => [target, `${name}=`]),
    ...title,
    ...handlerName(plan, stream),
    ...language(plan, stream),
  ]
}

/** QuickTime and mp4 keep the title of a track as the name of its handler. */
function handlerName(plan: MuxPlan, stream: WrittenStream): readonly string[] {
  const title = stream.title ?? stream.input.title
  return isMovieProfile(plan.profile) && title !== null
    ? [`-metadata:s:${stream.outputIndex}`, `handler_name=${title}`]
    : []
}

function language({ container }: MuxPlan, stream: PlannedStream): readonly string[] {
  const name = container === 'mov' ? quickTimeLanguage(stream.input.language) : undefined
  return name ? [`-metadata:s:${stream.outputIndex}`, `language=${name}`] : []
}

/** Options with which the mp4 muxers keep brand, free tags, timecode and the place of the index. */
export function mp4FamilyOptions(plan: MuxPlan, fastStart: boolean): readonly string[] {
  if (!isMovieProfile(plan.profile)) return []
  const { media, container } = plan
  const brand = media.container === container && container === 'mp4' ? media.tags.major_brand : undefined
  const timecode = media.streams.some((stream) => stream.codecTag === 'tmcd')
  return [
    ...(fastStart ? ['-movflags', '+faststart'] : []),
    ...freeTagOptions(plan),
    ...(brand ? ['-brand', brand] : []),
    // mov copies the tmcd track. mp4 cannot, so the muxer writes one from the timecode of the picture.
    ...(timecode ? ['-write_tmcd', container === 'mov' ? '0' : '1'] : []),
  ]
}
