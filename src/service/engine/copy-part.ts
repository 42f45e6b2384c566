import { fileUrl, type MediaInfo, pictureStart, runFfmpeg, safeInputOptions } from '../../media/index.js'
import type { FilePart } from './file-part.js'

/** ffmpeg's muxer for each container whose usual extension is not the muxer's name. */
const MUXERS: Readonly<Record<string, string>> = {
  mkv: 'matroska',
  mka: 'matroska',
  m4v: 'mp4',
  m4a: 'ipod',
  ts: 'mpegts',
  m2ts: 'mpegts',
  mpg: 'mpeg',
  wmv: 'asf',
  wma: 'asf',
}

const HAS_EDIT_LISTS: ReadonlySet<string> = new Set(['mp4', 'm4v', 'mov', '3gp', '3g2'])

/**
 * Cuts a part out of a film by stream copy. The part begins at the key frame at or before its start. If the container
 * has edit lists, players begin at the picture shown at the start. Sound and picture stay in sync.
 */
export async function copyPart(
  media: MediaInfo,
  { startSec, endSec }: FilePart,
  output: string,
  signal: AbortSignal,
): Promise<void> {
  const end = endSec === null ? [] : ['-to', String(endSec)]
  // An edit list must not begin inside a picture: ffmpeg would show the next picture instead.
  const beginSec = HAS_EDIT_LISTS.has(media.container) ? await pictureStart(media, startSec, signal) : startSec
  await runFfmpeg(
    {
      inputs: [{ url: fileUrl(media.path), options: [...safeInputOptions(media), '-ss', beginSec.toFixed(6), ...end] }],
      outputs: [
        {
          url: fileUrl(output),
          options: [
            ...['-map', '0', '-c', 'copy', '-copy_unknown', '-map_chapters', '-1'],
            ...['-f', MUXERS[media.container] ?? media.container],
          ],
        },
      ],
    },
    { signal, input: media.path },
  )
}
