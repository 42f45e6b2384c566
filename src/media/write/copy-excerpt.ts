import { join } from 'node:path'
import { InterruptedError } from '../../core/errors.js'
import { runFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import { audioStreams, type MediaInfo, pictureOf } from '../media-info.js'
import { singleFrames } from '../pcm/single-frames.js'
import { hasPackedFrames } from '../probe/misread/packed-frames.js'
import { containerProfile, isMovieProfile } from './container-profile.js'

interface ExcerptOptions {
  /** Start in the file, as a player shows it. */
  readonly startSec: number
  readonly lengthSec: number
  /** Folder for the excerpt. It must exist. */
  readonly folder: string
  readonly signal?: AbortSignal | undefined
}

/** Codecs that ffmpeg encodes without loss. Their copied packets would keep a header that counts the whole file. */
const ENCODED_AGAIN = new Set(['flac', 'alac', 'wavpack', 'tta'])

/**
 * Copies a few seconds of a file, without decoding anything before them. Keeps all audio tracks and the picture.
 *
 * A picture begins at a key frame. Only mp4 and mov can hide what lies before the wanted start. A film in another
 * container becomes a mov or mp4, or sound alone (`mka`) if neither can carry it. No muxer takes packets that hold
 * several frames, and none writes the key of an encrypted picture: such a film becomes sound alone.
 *
 * @returns path of the excerpt
 * @throws ffmpeg's faults; InterruptedError
 */
export async function copyExcerpt(media: MediaInfo, options: ExcerptOptions): Promise<string> {
  const own = containerProfile(media.container)
  const film = pictureOf(media)
  const picture = hasPackedFrames(media) || film?.isEncrypted ? undefined : film
  const isOwn = own && (!picture || isMovieProfile(own))
  const films = picture ? ['mov', 'mp4'] : []
  for (const container of isOwn ? [media.container, ...films] : films) {
    try {
      return await copyInto(container, media, picture, options)
    } catch (error) {
      // A container that cannot carry a track looks like any other fault of the file.
      if (error instanceof InterruptedError) throw error
    }
  }
  return copySound(media, options)
}

/** Copies a few seconds of all audio tracks of a file, without its picture. @returns path of the excerpt */
export function copySound(media: MediaInfo, options: ExcerptOptions): Promise<string> {
  return copyInto('mka', media, undefined, options)
}

async function copyInto(
  container: string,
  media: MediaInfo,
  picture: ReturnType<typeof pictureOf>,
  { startSec, lengthSec, folder, signal }: ExcerptOptions,
): Promise<string> {
  const profile = containerProfile(container)
  if (!profile) throw new Error(`${container} cannot be written`)
  const path = join(folder, `excerpt.${container}`)
  await runFfmpeg(
    {
      inputs: [
        {
          url: hasPackedFrames(media) ? singleFrames(media) : fileUrl(media.path),
          options: [...safeInputOptions(media), '-ss', String(startSec), '-t', String(lengthSec)],
        },
      ],
      outputs: [
        {
          url: fileUrl(path),
          options: [
            ...(picture ? ['-map', `0:${picture.index}`] : []),
            ...audioStreams(media).flatMap(({ audioIndex }) => ['-map', `0:a:${audioIndex}`]),
            ...['-c', 'copy'],
            ...audioStreams(media).flatMap(({ codec, audioIndex }) =>
              codec !== null && ENCODED_AGAIN.has(codec) ? [`-c:a:${audioIndex}`, codec] : [],
            ),
            // The timecode and the tags are those of the whole file.
            ...['-map_metadata:g', '-1', '-map_chapters', '-1', '-strict', '-2', '-y'],
            ...(isMovieProfile(profile) ? ['-write_tmcd', '0'] : []),
            ...[...profile.options, '-f', profile.muxer],
          ],
        },
      ],
    },
    { signal, input: media.path },
  )
  return path
}
