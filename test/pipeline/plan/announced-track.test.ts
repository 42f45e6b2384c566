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
const [PACKET_BYTES, FIRST_SOUND, SECOND_SOUND] = [188, 0x101, 0x102]

/** A recording with two sounds. */
let packets: readonly Buffer[]
/** The same, of whose second sound the recorder wrote nothing. */
let path: string

const pidOf = (packet: Buffer) => packet.readUInt16BE(1) & 0x1fff

beforeAll(async () => {
  const whole = folder.file('whole.ts')
  const tracks = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:v', 'mpeg2video', '-c:a', 'mp2']
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), ...tracks, whole)
  const bytes = await readFile(whole)
  packets = Array.from({ length: bytes.length / PACKET_BYTES }, (_, number) =>
    bytes.subarray(number * PACKET_BYTES, (number + 1) * PACKET_BYTES),
  )
  path = folder.file('announced.ts')
  await writeFile(path, Buffer.concat(packets.filter((packet) => pidOf(packet) !== SECOND_SOUND)))
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
  expect(asSent[0]?.remedies[0]).toContain('Choose another track with --track')
})

/** The recording with the packets of some sounds encrypted, as those of a channel that needs a card. */
async function encrypted(name: string, ...pids: readonly number[]): Promise<string> {
  const coded = packets.map((packet) => {
    if (!pids.includes(pidOf(packet))) return packet
    const start = ((packet[3] as number) & 0x20) === 0 ? 4 : 5 + (packet[4] as number)
    const made = Buffer.from(packet.map((byte, place) => (place < start ? byte : byte ^ (place * 37 + 99))))
    made.writeUInt8((packet[3] as number) | 0x80, 3)
    return made
  })
  await writeFile(folder.file(name), Buffer.concat(coded))
  return folder.file(name)
}

it('takes the clear sound beside an encrypted one', async () => {
  const media = await probe(await encrypted('half.ts', SECOND_SOUND))
  const { settings } = requestFor(media.path)
  const tracks = planTracks(media, settings, {})
  expect(tracks.map(({ stream }) => stream.audioIndex)).toEqual([0])
  const { plan, verified } = await writtenFile(media.path)
  expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  expect(plan.notes).toContain(
    'Audio track 1 (mp3) keeps the old sound, because ffmpeg cannot decode it. A player that can may play it instead.',
  )
})

it('says of encrypted sounds that they are encrypted, not that one must be chosen', async () => {
  const media = await probe(await encrypted('all.ts', FIRST_SOUND, SECOND_SOUND))
  const { settings } = requestFor(media.path)
  const { asSent } = judge(media, planTracks(media, settings, {}), settings, {})
  expect(asSent.map(({ errorCode, message }) => [errorCode, message])).toEqual([
    [-7, 'Audio track 0: it is encrypted, so its sound cannot be read.'],
    [-7, 'Audio track 1: it is encrypted, so its sound cannot be read.'],
  ])
})

it('publishes it with the announcement, and speaks of no sound that is not there', async () => {
  const { plan } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(plan.notes.join(' ')).not.toContain('Audio track 1')
})
