import type { ChapterInfo } from '../../media-info.js'
import type { MuxPlan } from './mux-plan.js'

/** Muxers that keep chapters in Vorbis comments, and the option that sets one. */
const COMMENT_OPTION: Readonly<Record<string, string>> = {
  ogg: '-metadata:s:0',
  opus: '-metadata:s:0',
  flac: '-metadata',
}

/**
 * Options that copy the chapters. For Vorbis comments, voxmux writes the comments itself. ffmpeg 5 moves a chapter
 * from 0.6 s to 1.6 s in Opus. It writes none into Vorbis and FLAC.
 */
export function chapterOptions({ media, profile }: MuxPlan): readonly string[] {
  const option = COMMENT_OPTION[profile.muxer]
  if (!profile.chapters || option === undefined) return ['-map_chapters', profile.chapters ? '0' : '-1']
  if (media.chapters.length === 0) return ['-map_chapters', '-1']
  const written = media.chapters.flatMap((chapter, place) => comments(option, chapter, place))
  // ffmpeg removes `encoder` at the end and moves the last comment into its place, before the time it belongs to.
  return ['-map_chapters', '-1', option, 'encoder=', ...written]
}

function comments(option: string, { startSec, title }: ChapterInfo, place: number): readonly string[] {
  const name = `CHAPTER${String(place).padStart(3, '0')}`
  const named = title === null ? [] : [option, `${name}NAME=${title}`]
  return [option, `${name}=${clock(Math.round(startSec * 1000))}`, ...named]
}

/** `hh:mm:ss.mmm` */
function clock(totalMs: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const sec = totalMs / 1000
  const fraction = String(totalMs % 1000).padStart(3, '0')
  return `${two(sec / 3600)}:${two((sec / 60) % 60)}:${two(sec % 60)}.${fraction}`
}
