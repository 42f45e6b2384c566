import { runFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import type { MediaInfo } from '../media-info.js'
import { FILE_CLOCK_INPUT_OPTIONS } from '../pcm/file-clock.js'
import { type HashedContainers, type HashedStream, HashLines, streamHashOutput } from '../write/remux/stream-hash.js'

/**
 * Hashes all packets of streams of a file, in the form that a receipt has them.
 *
 * @returns hashes in the order of the streams; undefined for a stream without packets
 * @throws the typed errors of ffmpeg
 */
export async function hashPackets(
  media: MediaInfo,
  streams: readonly HashedStream[],
  containers: HashedContainers,
  signal?: AbortSignal,
): Promise<readonly (string | undefined)[]> {
  const lines = new HashLines()
  const outputs = streamHashOutput(streams, containers)
  if (outputs.length > 0)
    await runFfmpeg(
      {
        inputs: [{ url: fileUrl(media.path), options: [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS] }],
        outputs,
      },
      { signal, input: media.path, takeStderrLine: (line) => lines.take(line) },
    )
  return streams.map((_, place) => lines.at(place))
}
