import { fileUrl, type MediaInfo, pictureStart, runFfmpeg, safeInputOptions } from '../../media/index.js'
import type { FilePart } from './file-part.js'

/** ffmpeg's muxers where a container's usual extension is not their name. */
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
 * Cuts a part out of a film without touching a packet. It begins at the key frame at or before the part's start (where
 * the container has edit lists, players begin at the picture that is shown at the start), sound and picture in their
 * relation.
 */
export async function copyPart(
  media: MediaInfo,
  { startSec, endSec }: FilePart,
  output: string,
  signal: AbortSignal,
): Promise<void> {
  const end = endSec === null ? [] : ['-to', String(endSec)]
  // In the middle of a picture no edit list may begin: ffmpeg would show the next one in its place.
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
