import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { judge } from '../../../src/pipeline/plan/judge.js'
import { planTracks } from '../../../src/pipeline/plan/plan-tracks.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()
const [PACKET_BYTES, SECOND_SOUND] = [188, 0x102]

/** A recording that announces a second sound, of which the recorder wrote nothing. */
let path: string

beforeAll(async () => {
  const whole = folder.file('whole.ts')
  const tracks = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:v', 'mpeg2video', '-c:a', 'mp2']
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), ...tracks, whole)
  const bytes = await readFile(whole)
  const packets = Array.from({ length: bytes.length / PACKET_BYTES }, (_, number) =>
    bytes.subarray(number * PACKET_BYTES, (number + 1) * PACKET_BYTES),
  )
  path = folder.file('announced.ts')
  await writeFile(path, Buffer.concat(packets.filter((packet) => (packet.readUInt16BE(1) & 0x1fff) !== SECOND_SOUND)))
})

it.each(['only', 'all'] as const)('takes the sound that can be read, with --track %s', async (track) => {
  const media = await probe(path)
  const { settings } = requestFor(path, { recipe: { track } })
  const tracks = planTracks(media, settings, {})
  expect(tracks.map(({ stream }) => stream.audioIndex)).toEqual([0])
  expect(judge(media, tracks, settings, {}).asSent).toEqual([])
})

it('refuses the announced sound if it is chosen', async () => {
  const media = await probe(path)
  const { settings } = requestFor(path, { recipe: { track: 1 } })
  const { asSent } = judge(media, planTracks(media, settings, {}), settings, {})
  expect(asSent.map(({ errorCode }) => errorCode)).toEqual([-2])
})

it('publishes it with the announcement, and says that nothing of it changes', async () => {
  const { plan } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(plan.notes).toContain(
    'Audio track 1 (mp3) keeps the old sound, because ffmpeg cannot decode it. A player that can may play it instead.',
  )
})
