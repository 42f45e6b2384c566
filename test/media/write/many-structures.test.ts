import { appendFile, open, stat, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { kept, listCensus, lost, MOST_LISTED } from '../../../src/media/write/census.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { isoBoxes } from '../../../src/media/write/structure/iso-boxes.js'
import { writingFacts } from '../../../src/media/write/writing.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

/** Elements of half an hour of MXF with four tracks: no limit of a list may make voxmux rewrite such a film. */
const ELEMENTS = 520_000

const folder = folderOfTests()

/** Two elements of MXF without content, so that neighbours differ. */
const PAIR = Buffer.concat(
  ['060e2b34025301010d010101010f0100', '060e2b34025301010d010101010f0200'].map((key) => Buffer.from(`${key}00`, 'hex')),
)

it('overwrites the samples of a long film in MXF where they are, and lists each kind of its elements once', async () => {
  const path = folder.file('film.mxf')
  await ffmpeg(...picture(1), ...tone(1), '-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', path)
  const short = writingFacts(await planOutput(await probe(path), { replaced: [0] }))
  await appendFile(path, Buffer.alloc((ELEMENTS / 2) * PAIR.length, PAIR))

  const plan = await planOutput(await probe(path), { replaced: [0] })

  const { writer, census } = writingFacts(plan)
  expect({ writer, losses: plan.losses }).toEqual({ writer: 'pcm-in-place', losses: [] })
  const kinds = new Set(short.census?.map(({ path: name, fate }) => `${fate} ${name}`))
  expect(census).toHaveLength(kinds.size + 2)
  expect(census?.reduce((sum, { length }) => sum + length, 0)).toBe((await stat(path)).size)
})

it('lists a box with more parts than a call may have arguments', async () => {
  const part = Buffer.from([0, 0, 0, 8, ...Buffer.from('free')])
  const parts = Buffer.alloc(200_000 * part.length, part)
  const head = Buffer.from([0, 0, 0, 0, ...Buffer.from('udta')])
  head.writeUInt32BE(head.length + parts.length)
  const path = folder.file('parts.mov')
  await writeFile(path, Buffer.concat([head, parts]))
  const file = await open(path)

  expect(await isoBoxes(file, head.length + parts.length)).toHaveLength(200_001)

  await file.close()
})

it('lists a bounded number of entries, in which every byte counts once', () => {
  const alike = [...Array(2 * MOST_LISTED).keys()].map((at) => kept('moof', at, 1))
  expect(listCensus(alike)).toEqual([kept('moof', 0, alike.length)])
  expect(listCensus([...alike, lost('moof', alike.length, 3, 'why')])).toHaveLength(2)

  const different = alike.map((entry, place) => ({ ...entry, path: `box ${place}` }))
  const listed = listCensus(different)
  expect(listed).toHaveLength(MOST_LISTED + 1)
  expect(listed.at(-1)).toEqual(kept('others', MOST_LISTED, MOST_LISTED))
  expect(listCensus(different.slice(0, MOST_LISTED))).toEqual(different.slice(0, MOST_LISTED))
})
