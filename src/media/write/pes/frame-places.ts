import { open } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import type { MediaInfo } from '../../media-info.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { Column } from '../column.js'
import { SourceWindow } from '../copy/source-window.js'
import type { WantedTrack } from '../writer.js'
import { TICKS_A_SEC, unitClockFault } from './clock-fault.js'
import { replaceSideFile } from './replace-side-file.js'
import { firstFrameOf, type MadeFrames, type TimedFrames } from './timed-frames.js'

/** The frames of a sound, some of which are missing. */
export interface FramePlaces {
  /** The place of a frame among all, missing ones included. */
  readonly placeOf: (frame: number) => number
  /** Number of all, missing ones included. */
  readonly count: number
}

/**
 * Finds the places of frames after losses. A unit with a time places those that begin in it. The others follow each other, as
 * in ffmpeg. Null if times overlap.
 */
export function framePlaces(sound: TimedFrames, { input }: WantedTrack, samples: number): FramePlaces | null {
  const { units, frames } = sound
  const frameTicks = (samples * TICKS_A_SEC) / input.sampleRate
  const places = Column.integers()
  let start: number | undefined
  let next = 0
  for (let unit = 0; unit < units.count; unit++) {
    const [first, end] = [firstFrameOf(sound, unit), firstFrameOf(sound, unit + 1)]
    const ticks = units.ticks(unit)
    if (first < end && !Number.isNaN(ticks)) {
      start ??= ticks - next * frameTicks
      const place = Math.round((ticks - start) / frameTicks)
      if (place < next) return null
      next = place
    }
    for (let frame = first; frame < end; frame++) places.push(next++)
  }
  return { placeOf: (frame) => (frame < frames.count ? places.get(frame) : next), count: next }
}

/** The reason why new frames would not lie at their times, if some of the old ones are missing; undefined if they do. */
export function placedClockFault(
  sound: TimedFrames,
  track: WantedTrack,
  media: MediaInfo,
  samples: number,
): string | undefined {
  const places = framePlaces(sound, track, samples)
  if (!places) return 'the clock of the track overlaps at packets that are missing'
  return unitClockFault(sound.units, track, media, (unit) => {
    const first = firstFrameOf(sound, unit)
    return first < firstFrameOf(sound, unit + 1) ? samples * places.placeOf(first) : Number.NaN
  })
}

/**
 * Rewrites a side file of frames so that they follow each other as the old ones do. Those of missing frames are left out.
 * Zeros take the places of incomplete ones.
 *
 * @param path of the side file
 * @throws MalformedFile if a frame does not fit
 */
export async function placeFrames(
  path: string,
  made: MadeFrames,
  sound: TimedFrames,
  { placeOf }: FramePlaces,
  signal: AbortSignal | undefined,
): Promise<MadeFrames> {
  const { units, frames } = sound
  const first = frames.startOf(0)
  const endOf = (frame: number) => (frame < frames.count ? frames.startOf(frame + 1) : units.startOf(units.count))
  async function* placed() {
    await using file = await open(path, 'r')
    const source = new SourceWindow(file, path, made.startOf(made.count))
    for (let frame = 0; frame <= frames.count; frame++) {
      throwIfAborted(signal)
      const bytes = Buffer.alloc(endOf(frame) - frames.startOf(frame))
      const place = placeOf(frame)
      if (place < made.count) {
        const [start, end] = [made.startOf(place), made.startOf(place + 1)]
        if (frame < frames.count && end - start > bytes.length) throw new MalformedFile('its frames are too long')
        await source.read(bytes.subarray(0, end - start), start)
      }
      yield bytes
    }
  }
  await replaceSideFile(path, placed(), signal)
  return {
    count: frames.count + 1,
    startOf: (frame) => (frame > frames.count ? endOf(frames.count) : frames.startOf(frame)) - first,
  }
}
