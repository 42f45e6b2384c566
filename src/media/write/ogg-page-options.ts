import type { MediaInfo } from '../media-info.js'

/** A page of ffmpeg's muxer lasts a second, or longer by one packet. */
const TWO_PAGES_SEC = 1.5

/**
 * Options of the Ogg muxer for new Vorbis. If all of it lies in one page, ffmpeg reads it too late by its first packet
 * or without its end. It also misplaces packets beside the end of a page if the length of blocks changes. Each packet of a
 * short file therefore has its own page.
 */
export function oggPageOptions({ durationSec }: MediaInfo): readonly string[] {
  return durationSec !== null && durationSec > TWO_PAGES_SEC ? [] : ['-page_duration', '1']
}
