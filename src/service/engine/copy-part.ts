import {
  containerProfile,
  fileUrl,
  type MediaInfo,
  pictureStart,
  runFfmpeg,
  safeInputOptions,
} from '../../media/index.js'
import type { FilePart } from './file-part.js'
import { firstPacketSec } from './first-packet.js'

/** Muxers of parts that are not those of finished files: no brands of Apple, and packs as in a plain program stream. */
const MUXERS: Readonly<Record<string, string>> = { m4v: 'mp4', mpg: 'mpeg' }

const HAS_EDIT_LISTS: ReadonlySet<string> = new Set(['mp4', 'm4v', 'mov', '3gp', '3g2'])

/** First step back in a container that seeks to the next key frame. Each further step is twice as long. */
const STEP_BACK_SEC = 1

/**
 * Cuts a part out of a film by stream copy. The part begins at a key frame at or before its start. If the container
 * has edit lists, players begin at the picture shown at the start. Sound and picture stay in sync.
 *
 * @returns place of the copy's first packet ({@link firstPacketSec}), from the film's start
 */
export async function copyPart(
  media: MediaInfo,
  { startSec, endSec }: FilePart,
  output: string,
  signal: AbortSignal,
): Promise<number> {
  const end = endSec === null ? [] : ['-to', String(endSec)]
  const hasEditLists = HAS_EDIT_LISTS.has(media.container)
  // An edit list must not begin inside a picture: ffmpeg would show the next picture instead.
  const beginSec = hasEditLists ? await pictureStart(media, startSec, signal) : startSec
  const { fromSec, firstSec } = await seekPlace(media, beginSec, signal)
  // Ogg cannot hold a picture before zero. Other containers without edit lists shift the packets themselves.
  const shift = hasEditLists ? [] : ['-output_ts_offset', Math.max(0, fromSec - firstSec).toFixed(6)]
  await runFfmpeg(
    {
      inputs: [{ url: fileUrl(media.path), options: [...safeInputOptions(media), '-ss', fromSec.toFixed(6), ...end] }],
      outputs: [
        {
          url: fileUrl(output),
          options: [
            ...['-map', '0', '-c', 'copy', '-copy_unknown', '-map_chapters', '-1', ...shift],
            ...['-f', MUXERS[media.container] ?? containerProfile(media.container)?.muxer ?? media.container],
            ...(media.container === 'm2ts' ? ['-mpegts_m2ts_mode', '1'] : []),
          ],
        },
      ],
    },
    { signal, input: media.path },
  )
  return firstSec
}

/** Searches the place to seek to for a first packet at or before the start of the part, if the film has one. */
async function seekPlace(media: MediaInfo, beginSec: number, signal: AbortSignal) {
  for (let backSec = 0; ; backSec = 2 * backSec || STEP_BACK_SEC) {
    const fromSec = Math.max(0, beginSec - backSec)
    const firstSec = await firstPacketSec(media, fromSec, signal)
    if (firstSec === null || firstSec > beginSec) {
      if (fromSec === 0) return { fromSec, firstSec: firstSec ?? 0 }
      continue
    }
    // Sound without pictures would come first.
    const isLate = firstSec > fromSec && (await firstPacketSec(media, firstSec, signal)) === firstSec
    return { fromSec: isLate ? firstSec : fromSec, firstSec }
  }
}
