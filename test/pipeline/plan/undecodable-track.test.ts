import { readFile, writeFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { judge } from '../../../src/pipeline/plan/judge.js'
import { planTracks } from '../../../src/pipeline/plan/plan-tracks.js'
import { ffmpeg, picture, testFolder, tone } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'

/** A film of a phone: stereo, and beside it spatial sound in a coding that ffmpeg does not know. */
async function spatialFilm(path: string): Promise<string> {
  const tracks = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:v', 'libx264', '-c:a', 'aac', '-b:a', '96k']
  await ffmpeg(...picture(1), ...tone(1), ...tracks, path)
  const movie = await readFile(path)
  movie.write('apac', movie.lastIndexOf('mp4a', movie.lastIndexOf('esds')), 'latin1')
  movie.write('dapa', movie.lastIndexOf('esds'), 'latin1')
  await writeFile(path, movie)
  return path
}

it('names the track that cannot be decoded, and says that it keeps the old sound', async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const media = await probe(await spatialFilm(folder.file('spatial.mp4')))
  const { settings } = requestFor(media.path)
  const { asSent } = judge(media, planTracks(media, settings, {}), settings, {})
  expect(asSent.map(({ errorCode, message }) => [errorCode, message])).toEqual([
    [-8, '2 audio tracks: 0 mono (default), 1 stereo.'],
    [-7, 'Audio track 1: its codec has no known decoder.'],
  ])

  const { settings: first } = requestFor(media.path, { recipe: { track: 0 } })
  expect(judge(media, planTracks(media, first, {}), first, {}).asSent).toEqual([])
  const { notes } = await planOutput(media, { replaced: [0] })
  expect(notes).toContain(
    'Audio track 1 (apac) keeps the old sound, because ffmpeg cannot decode it. A player that can may play it instead.',
  )
})
