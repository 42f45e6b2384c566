import type { MediaInfo } from '../../media/media-info.js'

/**
 * Frames since 00:00:00:00 of a SMPTE timecode. A semicolon before the frames means drop frame: 29.97 and 59.94 skip
 * numbers to follow the clock.
 *
 * @returns undefined for an invalid timecode
 */
export function timecodeFrames(timecode: string, frameRate: number): number | undefined {
  const match = /^(\d{1,2}):(\d{2}):(\d{2})([:;.,])(\d{2,3})$/.exec(timecode)
  if (!match) return undefined
  const nominal = Math.round(frameRate)
  const [hours = 0, minutes = 0, seconds = 0, frames = 0] = [1, 2, 3, 5].map((group) => Number(match[group]))
  const wholeMinutes = hours * 60 + minutes
  const counted = (wholeMinutes * 60 + seconds) * nominal + frames
  if (match[4] === ':') return counted
  return counted - Math.round(nominal / 15) * (wholeMinutes - Math.floor(wholeMinutes / 10))
}

/** True if a frame rate counts a timecode: it has its frame, and only 29.97 and 59.94 drop frames. */
export function countsTimecode(timecode: string, frameRate: number): boolean {
  const nominal = Math.round(frameRate)
  const canDrop = nominal % 30 === 0 && Math.abs(frameRate - nominal) > 0.001
  return Number(timecode.slice(9)) < nominal && (canDrop || !isDropFrame(timecode))
}

/** True if the separator before the frames stands for drop frame. */
export function isDropFrame(timecode: string): boolean {
  return /[;.,]\d+$/.test(timecode)
}

/** Frames per second of a file's picture; undefined without a picture. */
export function frameRateOf(media: MediaInfo): number | undefined {
  for (const stream of media.streams) {
    if (stream.kind !== 'video' || stream.isCover) continue
    const [frames, seconds = 1] = (stream.frameRate ?? '').split('/').map(Number)
    if (frames && seconds) return frames / seconds
  }
  return undefined
}

/** The timecode of a file's first frame, from a timecode track or a tag; undefined without either. */
export function startTimecodeOf(media: MediaInfo): string | undefined {
  const tagged = [media.tags, ...media.streams.map(({ tags }) => tags)]
  return tagged.map((tags) => tags.timecode ?? tags.TIMECODE).find((timecode) => timecode !== undefined)
}
