import { isCover, type MediaInfo, type StreamInfo } from '../media-info.js'

type TaggedFile = Pick<MediaInfo, 'tags' | 'streams'>

/** The stream whose comments are those of the whole file: the only one of an Ogg, covers aside. */
export function streamWithFileTags({ container, streams }: Pick<MediaInfo, 'container' | 'streams'>) {
  const [only, ...others] = commented(streams)
  return isOgg(container) && others.length === 0 ? only : undefined
}

/**
 * Ogg has no tags of a file, only comments of its streams. Those of its only stream become tags of the file. A file
 * of several streams gets what all of them say.
 */
export function withFileTags(container: string, { tags, streams }: TaggedFile): TaggedFile {
  if (!isOgg(container)) return { tags, streams }
  const [first, ...others] = commented(streams)
  if (!first) return { tags, streams }
  const common = Object.entries(first.tags).filter(([name, value]) =>
    others.every((other) => other.tags[name] === value),
  )
  const only = streamWithFileTags({ container, streams })
  return {
    tags: { ...tags, ...Object.fromEntries(common) },
    streams: streams.map((stream) => (stream === only ? { ...stream, tags: {}, title: null } : stream)),
  }
}

/** True for the containers whose streams alone have tags. */
export function isOgg(container: string): boolean {
  return container === 'ogg' || container === 'opus'
}

function commented(streams: readonly StreamInfo[]): readonly StreamInfo[] {
  return streams.filter((stream) => !isCover(stream))
}
