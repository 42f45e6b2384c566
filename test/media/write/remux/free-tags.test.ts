import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

const TAGS = { title: 'Harbour', artist: 'Ana', MUSICBRAINZ_TRACKID: 'b1a9c0e9', mood: 'åre' }
const COMMENT = { comment: 'Recorded at sea.' }
const metadata = (tags: Readonly<Record<string, string>>) =>
  Object.entries(tags).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])

/** A song with a cover and tags. */
async function song(name: string, tags: Readonly<Record<string, string>>): Promise<string> {
  const [cover, path] = [folder.file('cover.jpg'), folder.file(name)]
  await ffmpeg('-f', 'lavfi', '-i', 'color=red:s=32x32', '-frames:v', '1', cover)
  const streams = [...tone(1, 48_000, 2), '-i', cover, '-map', '0', '-map', '1', '-c:v', 'copy']
  await ffmpeg(...streams, '-disposition:v', 'attached_pic', ...metadata(tags), path)
  return path
}

/** Tags by their names in small letters. */
async function tagsOf(path: string): Promise<Record<string, string>> {
  const { tags } = await probe(path)
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value]))
}

const lower = (tags: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value]))

it.each([
  ['m4a', TAGS],
  ['mp4', TAGS],
  ['m4a', { ...TAGS, ...COMMENT }],
])('keeps cover, list and free tags of a FLAC in .%s', async (container, tags) => {
  const path = await song('song.flac', tags)
  const { plan, part } = await writtenFile(path, { container })
  expect(plan.losses).toEqual([])
  expect(await tagsOf(part)).toMatchObject(lower(tags))
  const bytes = (await readFile(part)).toString('latin1')
  expect([bytes.includes('mdta'), bytes.includes('covr'), bytes.includes('\xa9nam')]).toEqual([false, true, true])
  expect(bytes.includes('\xa9cmt')).toBe('comment' in tags)
})

it('leaves no room behind a comment', async () => {
  const path = await song('comment.flac', { ...TAGS, ...COMMENT })
  const { part } = await writtenFile(path, { container: 'm4a' })
  expect((await tagsOf(part)).comment).toBe(COMMENT.comment)
})

it('keeps the keys of a camera in .mp4', async () => {
  const path = folder.file('phone.mov')
  const key = 'com.apple.quicktime.make'
  const keys = ['-movflags', 'use_metadata_tags', ...metadata({ [key]: 'Phone', title: 'A day' })]
  await ffmpeg(...tone(1, 48_000, 2), '-c:a', 'aac', ...keys, path)
  const { part } = await writtenFile(path, { container: 'mp4' })
  expect(await tagsOf(part)).toMatchObject({ [key]: 'Phone', title: 'A day' })
  expect((await readFile(part)).includes('mdta')).toBe(true)
})

it('names the free tags that are too long for one command', async () => {
  const path = await song('long.flac', { ...TAGS, story: 'long '.repeat(22_000) })
  const { plan, part } = await writtenFile(path, { container: 'm4a' })
  expect(plan.losses.map(({ what }) => what)).toEqual(['tags (story)'])
  expect(await tagsOf(part)).toMatchObject(lower(TAGS))
})

it.each(['m4a', 'mp3', 'flac', 'mkv', 'aiff'])(
  'makes the comments of an Ogg tags of the file in .%s',
  async (container) => {
    const path = folder.file('song.ogg')
    await ffmpeg(...tone(1, 48_000, 2), '-c:a', 'libvorbis', ...metadata(TAGS), path)
    const { plan, part } = await writtenFile(path, { container })
    expect(plan.losses).toEqual([])
    expect(await tagsOf(part)).toMatchObject(lower(TAGS))
    expect((await probe(part)).streams.map(({ title }) => title)).toEqual([null])
  },
)

it('names the tags that another container has no name for', async () => {
  const path = await song('song.flac', TAGS)
  const { plan } = await writtenFile(path, { container: 'wav' })
  expect(plan.losses.map(({ what }) => what)).toContain('tags (musicbrainz_trackid, mood)')
})
