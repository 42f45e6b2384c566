import type { MediaInfo } from '../../media-info.js'
import { staleReason } from '../stale-facts.js'
import type { MuxLoss } from './mux-losses.js'

type Fates = readonly { readonly fate: string }[]

/** Tags of the file that are wrong once a track is replaced. */
export function oldFactTags({ tags }: Pick<MediaInfo, 'tags'>, streams: Fates): readonly string[] {
  if (!streams.some(({ fate }) => fate === 'replaced')) return []
  return Object.keys(tags).filter((name) => staleReason(name) !== null)
}

/** The losses of {@link oldFactTags}. */
export function oldFactLosses(media: MediaInfo, streams: Fates): readonly MuxLoss[] {
  return oldFactTags(media, streams).map((name) => ({
    what: `tag ${name}`,
    stream: null,
    reason: staleReason(name) ?? '',
  }))
}
