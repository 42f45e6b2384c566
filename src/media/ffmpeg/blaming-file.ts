import { createReadStream } from 'node:fs'
import { VoxmuxError } from '../../core/errors.js'
import { unreadable } from './ffmpeg-failure.js'

/** Read failures that may be the fault of the file or of the disk: ffmpeg reports both in the same words. */
const DOUBTFUL: ReadonlySet<string> = new Set([
  'ERR_FFMPEG_FAILED',
  'ERR_FFPROBE_ANSWER',
  'ERR_MEDIA_IO',
  'ERR_NOT_PERMITTED',
])

/** True if a failure to read may be the fault of the file. */
export function isDoubtful(error: unknown): boolean {
  return error instanceof VoxmuxError && DOUBTFUL.has(error.code)
}

/**
 * Reads media. If that fails although every byte of the file can be read, the file is at fault, whatever ffmpeg
 * reports.
 *
 * @throws {PrecheckError} ERR_UNREADABLE (-2), or the error of `read`
 */
export async function blamingFile<T>(
  input: string,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (signal?.aborted || !isDoubtful(cause) || !(await isReadable(input, signal))) throw cause
    throw unreadable(`${input} cannot be read as a media file`, { input, cause })
  }
}

/** True if every byte of a file can be read. */
export async function isReadable(path: string, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    for await (const _ of createReadStream(path, { highWaterMark: 1 << 20, ...(signal && { signal }) }));
    return true
  } catch {
    signal?.throwIfAborted()
    return false
  }
}
