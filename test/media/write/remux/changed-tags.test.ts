import { readFile, writeFile } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findFfmpeg, forgetBinaries } from '../../../../src/media/index.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

it('plans the tags that ffmpeg writes otherwise as lost, beside those that it keeps', async () => {
  const path = folder.file('place.mov')
  const tags = { location: '+40.7388-074.0002+035.880/', model: 'Phone', title: 'A day' }
  const named = Object.entries(tags).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])
  await ffmpeg(...picture(1.5), ...tone(1.5, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'aac', ...named, path)
  const { plan } = await writtenFile(path, { keepOriginal: true })
  const losses = plan.losses.map(({ what }) => what).filter((what) => what.startsWith('tags'))
  expect(losses).toEqual(['tags (location)'])
})

it('does not take a full disk for tags that are kept', async () => {
  const path = folder.file('model.mov')
  await ffmpeg(...picture(1), ...tone(1, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'aac', '-metadata', 'model=Phone', path)
  const { path: real } = await findFfmpeg()
  const full = `case "$*" in *voxmux-tags-*) echo 'av_interleaved_write_frame(): No space left on device' >&2; exit 1;; esac`
  await writeFile(folder.file('ffmpeg'), `#!/bin/sh\n${full}\nexec '${real}' "$@"\n`, { mode: 0o755 })
  vi.stubEnv('VOXMUX_FFMPEG', folder.file('ffmpeg'))
  forgetBinaries()
  onTestFinished(() => {
    vi.unstubAllEnvs()
    forgetBinaries()
  })
  await expect(writtenFile(path, { keepOriginal: true })).rejects.toMatchObject({ code: 'ERR_DISK_FULL' })
})

it('copies subtitles between which the muxer puts more empty packets than there were', async () => {
  const path = folder.file('subtitles.mp4')
  await writeFile(
    folder.file('words.srt'),
    '1\n00:00:00,500 --> 00:00:01,000\none\n\n2\n00:00:01,024 --> 00:00:01,400\ntwo\n',
  )
  await ffmpeg(
    ...[
      ...picture(1.5),
      ...tone(1.5, 48_000, 2),
      '-i',
      folder.file('words.srt'),
      '-map',
      '0',
      '-map',
      '1',
      '-map',
      '2',
    ],
    ...['-c:v', 'mpeg4', '-c:a', 'aac', '-c:s', 'mov_text', path],
  )
  await writeFile(path, inMilliseconds(await readFile(path)))
  const { verified } = await writtenFile(path, { keepOriginal: true })
  const hashes = verified.streams.flatMap(({ packetHash }) => (packetHash ? [packetHash] : []))
  expect(hashes).toHaveLength(3)
  for (const { input, output } of hashes) expect(output).toBe(input)
})

/** Counts the last track, whose ticks are millionths of a second, in milliseconds, as other writers of subtitles do. */
function inMilliseconds(bytes: Buffer): Buffer {
  const header = bytes.lastIndexOf('mdhd') + 16
  expect(bytes.readUInt32BE(header)).toBe(1_000_000)
  const divide = (at: number) => bytes.writeUInt32BE(bytes.readUInt32BE(at) / 1000, at)
  divide(header)
  divide(header + 4)
  const times = bytes.lastIndexOf('stts') + 8
  for (let entry = 0; entry < bytes.readUInt32BE(times); entry++) divide(times + 8 * (entry + 1))
  return bytes
}

it.each(['02/10', '7', '0'])('takes the number %s of a track for kept in .m4a', async (track) => {
  const path = folder.file('numbered.flac')
  await ffmpeg(...tone(1, 48_000, 2), '-metadata', `track=${track}`, '-metadata', 'title=A song', path)
  const { plan } = await writtenFile(path, { container: 'm4a' })
  expect(plan.losses).toEqual([])
})

it.each(['ogg', 'mkv'])('keeps the tags that all streams of an Ogg film state in .%s', async (container) => {
  const path = folder.file(`film-to-${container}.ogg`)
  const title = ['-metadata:s:0', 'title=A film', '-metadata:s:1', 'title=A film', '-metadata:s:0', 'comment=Picture']
  await ffmpeg(...picture(1), ...tone(1, 48_000, 2), '-c:v', 'libtheora', '-c:a', 'flac', ...title, path)
  const { plan, part } = await writtenFile(path, { container, keepOriginal: true })
  expect(plan.losses).toEqual([])
  const { tags, streams } = await probe(part)
  // A kept original has a title of its own, so in Ogg the title is that of the picture.
  expect(container === 'ogg' ? streams[0]?.title : tags.title).toBe('A film')
  expect(Object.keys(tags).map((name) => name.toLowerCase())).not.toContain('comment')
})
