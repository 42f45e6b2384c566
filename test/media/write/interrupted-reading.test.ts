import { truncate } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { MediaInfo } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { elementaryFrames } from '../../../src/media/write/frames/elementary.js'
import { oggFrames } from '../../../src/media/write/frames/ogg.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** A sound with zeros behind it, which need no room on the disk. */
async function sparse(name: string, ...options: string[]): Promise<MediaInfo> {
  const path = folder.file(name)
  await ffmpeg(...tone(1, 48_000, 1), ...options, path)
  const media = await probe(path)
  const sizeBytes = 2 ** 24
  await truncate(path, sizeBytes)
  return { ...media, sizeBytes }
}

it('is not continued behind the last frame or page when the command is stopped', async () => {
  const files = [
    [elementaryFrames, await sparse('zeros.aac', '-c:a', 'aac')],
    [elementaryFrames, await sparse('zeros.mp3', '-c:a', 'libmp3lame')],
    [oggFrames, await sparse('zeros.opus', '-c:a', 'libopus')],
  ] as const
  for (const [writer, media] of files) {
    await expect(writer.parse(media, AbortSignal.abort()), media.path).rejects.toThrow('Interrupted')
    const stop = new AbortController()
    const parsed = expect(writer.parse(media, stop.signal), media.path).rejects.toThrow('Interrupted')
    setImmediate(() => stop.abort())
    await parsed
  }
})
