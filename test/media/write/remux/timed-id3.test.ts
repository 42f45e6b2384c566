import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { rehearseMux } from '../../../../src/media/verify/rehearse-mux.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'
import { ID3, pesOf, withStream } from './made-transport.js'

const folder = folderOfTests()

const TAG = Buffer.from('ID3\x04\0\0\0\0\0\x11TIT2\0\0\0\x07\0\0\x03hello\0', 'latin1')

it('names the ID3 tags of a live stream as lost, because ffmpeg cuts them off', async () => {
  const path = folder.file('live.ts')
  await ffmpeg(...picture(3), ...tone(3, 48_000, 2), '-c:v', 'mpeg2video', '-c:a', 'mp2', path)
  const firstTicks = BigInt(Math.round((await probe(path)).startSec * 90_000))
  await writeFile(
    path,
    withStream(await readFile(path), ID3, firstTicks, (ticks) => pesOf(ticks, TAG, 14)),
  )
  expect((await probe(path)).streams.map(({ codec }) => codec)).toEqual(['mpeg2video', 'mp2', 'timed_id3'])
  const { plan } = await writtenFile(path, { audioCodec: 'ac3' })
  await rehearseMux(plan, { downmixed: new Set() })
  expect(plan.losses).toMatchObject([{ what: 'data stream 2 (timed_id3)', stream: 2 }])
})
