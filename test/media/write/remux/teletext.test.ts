import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { rehearseMux } from '../../../../src/media/verify/rehearse-mux.js'
import { ffmpeg, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { pesOf, TELETEXT, withStream } from './made-transport.js'

const folder = folderOfTests()

/** A page of teletext (ETSI EN 300 472): three lines of 46 bytes, behind a header of 45. */
function pageAt(ticks: bigint): Buffer {
  const line = Buffer.concat([Buffer.from([2, 44, 0xe7, 0xe4]), Buffer.alloc(42, 0x40)])
  return pesOf(ticks, Buffer.concat([Buffer.from([0x10]), line, line, line]), 45)
}

it('keeps the times that pages of teletext state', async () => {
  const path = folder.file('teletext.ts')
  // The clock of the stream runs 0.7 s ahead of its pictures, as in a broadcast.
  await ffmpeg(...picture(4), ...tone(4, 48_000, 2), '-c:v', 'mpeg2video', '-c:a', 'mp2', path)
  const plain = await probe(path)
  const firstTicks = BigInt(Math.round(plain.startSec * 90_000))
  await writeFile(path, withStream(await readFile(path), TELETEXT, firstTicks, pageAt))
  const media = await probe(path)
  expect(media.streams.map(({ codec }) => codec)).toEqual(['mpeg2video', 'mp2', 'dvb_teletext'])
  expect(media.streams[2]?.startSec).toBeCloseTo(plain.startSec, 2)
  const { plan, part, verified } = await writtenFile(path)
  await rehearseMux(plan, { downmixed: new Set() })
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(48)
  const output = await probe(part, { writtenAs: 'ts' })
  const startOf = ({ streams }: typeof output) => (streams[2]?.startSec ?? 0) - (streams[0]?.startSec ?? 0)
  expect(startOf(output)).toBeCloseTo(startOf(media), 3)
})
