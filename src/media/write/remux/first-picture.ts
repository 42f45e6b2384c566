import { lateSecOf, pictureOf } from '../../media-info.js'
import type { MuxLoss } from './mux-losses.js'
import type { PlannedStreams } from './plan-streams.js'

type Remuxed = Omit<PlannedStreams, 'profile'>

/** Containers that have no time for their first picture: it is shown at zero. */
const BEGIN_WITH_PICTURE: ReadonlySet<string> = new Set(['avi', 'mxf', 'ogg'])
/** A picture that begins later than this after the sound is not moved, because the sound before it would be lost. */
const MOST_SEC = 0.1

/**
 * Seconds from the file's zero to its first picture, if the output begins with that picture. The sound before it has no
 * place then. In a Matroska of ffmpeg, the picture is as late as the priming of the sound's encoder.
 */
export function latePictureSec({ media, container, streams }: Remuxed): number {
  const picture = pictureOf(media)
  const isWritten = streams.some(({ input, fate }) => input === picture && fate !== 'dropped')
  if (!isWritten || media.container === container || !BEGIN_WITH_PICTURE.has(container)) return 0
  const lateSec = lateSecOf(media, picture)
  return lateSec > 0 && lateSec <= MOST_SEC ? lateSec : 0
}

/** The sound before the first picture. */
export function earlySoundLosses(remuxed: Remuxed): readonly MuxLoss[] {
  const lateSec = latePictureSec(remuxed)
  if (lateSec < 0.001) return []
  const what = `first ${lateSec.toFixed(3)} s of sound, before the first picture`
  return [{ what, stream: null, reason: `.${remuxed.container} begins with the picture` }]
}
