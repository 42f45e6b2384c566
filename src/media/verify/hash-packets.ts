import { runFfmpeg } from '../ffmpeg/ffmpeg.js'
import type { MediaInfo } from '../media-info.js'
import { clockedInput } from '../pcm/file-clock.js'
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
  const takeStderrLine = (line: string) => lines.take(line)
  if (outputs.length > 0)
    await runFfmpeg({ inputs: [clockedInput(media)], outputs }, { signal, input: media.path, takeStderrLine })
  return streams.map((_, place) => lines.at(place))
}
