import { open } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { readAt } from '../../../core/read-at.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import type { WantedTrack } from '../writer.js'
import { FRAME_KINDS } from './frame-kinds.js'
import { FrameSplitter } from './frame-splitter.js'
import type { MadeFrames } from './timed-frames.js'

const BYTES_AT_ONCE = 1024 ** 2

/** Reads the frames of a side file that holds nothing else. @throws MalformedFile */
export async function readDonorFrames(
  path: string,
  { input }: WantedTrack,
  signal: AbortSignal | undefined,
): Promise<MadeFrames> {
  const kind = FRAME_KINDS[input.codec ?? '']
  if (!kind) throw new MalformedFile('its frames are unknown')
  await using file = await open(path, 'r')
  const splitter = new FrameSplitter(kind)
  for (let at = 0; ; ) {
    throwIfAborted(signal)
    const bytes = await readAt(file, at, BYTES_AT_ONCE)
    if (bytes.length === 0) break
    splitter.take(bytes)
    at += bytes.length
  }
  const { count, startOf, hasRest } = splitter.finish()
  if (hasRest || startOf(0) !== 0) throw new MalformedFile('it holds other bytes than frames')
  return { count, startOf }
}
