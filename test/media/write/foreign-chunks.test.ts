import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()
let plain: Buffer
beforeAll(async () => {
  const path = folder.file('plain.flac')
  await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'flac', path)
  plain = await readFile(path)
})

function chunk(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

/** An application block, as `flac --keep-foreign-metadata` writes one for each chunk of a WAV. */
function block(content: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE((2 << 24) + 4 + content.length)
  return Buffer.concat([head, Buffer.from('riff'), content])
}

function loudBext(): Buffer {
  const body = Buffer.alloc(602)
  body.writeUInt16LE(2, 346)
  for (const [place, value] of [-2300, 500, -100, -2200, -2250].entries()) body.writeInt16LE(value, 412 + 2 * place)
  return body
}

const LOUDNESS = '<LOUDNESS_VALUE>-23.0</LOUDNESS_VALUE>'
const XML = (inside: string) => Buffer.from(`<BWFXML><SCENE>1</SCENE>${inside}</BWFXML>`)
const CUE = chunk('cue ', Buffer.from('\x01\0\0\0places.', 'latin1'))

it('renews what the chunks of a WAV in a FLAC state about the old sound', async () => {
  const path = folder.file('foreign.flac')
  const head = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WAVE')])
  const chunks = [
    head,
    chunk('bext', loudBext()),
    chunk('PEAK', Buffer.alloc(24, 1)),
    chunk('iXML', XML(LOUDNESS)),
    CUE,
  ]
  const blocks = chunks.map(block)
  // Behind the marker and STREAMINFO.
  await writeFile(path, Buffer.concat([plain.subarray(0, 42), ...blocks, plain.subarray(42)]))
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('frames')
  expect(plan.losses.map(({ what }) => what)).toEqual(['APPLICATION/PEAK', 'iXML/LOUDNESS_VALUE'])
  expect(census.filter(({ fate }) => fate === 'rewritten').map(({ path: name }) => name)).toContain('APPLICATION/bext')
  for (const offsetSamples of syncOffsets(verified)) expect(offsetSamples).toBe(0)
  const output = await readFile(part)
  const bext = output.indexOf('bext') + 8
  const lufs = output.readInt16LE(bext + 412) / 100
  // Half the level of a tone.
  expect(lufs).toBeLessThan(-10)
  expect(lufs).not.toBe(-23)
  expect(output.subarray(bext, bext + 412)).toEqual(loudBext().subarray(0, 412))
  expect(output.includes('PEAK')).toBe(false)
  expect(output.includes(chunk('JUNK', Buffer.alloc(24)))).toBe(true)
  expect(output.includes(chunk('iXML', XML(' '.repeat(LOUDNESS.length))))).toBe(true)
  expect(output.includes(Buffer.concat([block(head)]))).toBe(true)
  expect(output.includes(block(CUE))).toBe(true)
})
