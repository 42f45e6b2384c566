import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { censusFaults } from '../../../src/media/write/census.js'
import { keepXml } from '../../../src/media/write/pcm-in-place/stale-xml.js'
import { ffmpeg, ffmpegOutput, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

const IXML = `<?xml version="1.0"?><BWFXML><PROJECT>Å</PROJECT><BEXT><BWF_VERSION>2</BWF_VERSION>
<BWF_LOUDNESS_VALUE>-23.1</BWF_LOUDNESS_VALUE><BWF_LOUDNESS_RANGE/><BWF_MAX_TRUE_PEAK_LEVEL></BWF_MAX_TRUE_PEAK_LEVEL>
</BEXT><LOUDNESS><LOUDNESS_RANGE unit="LU">4.5</LOUDNESS_RANGE></LOUDNESS></BWFXML>`
const AXML = `<audioProgramme><ebucore:loudnessMetadata loudnessMethod="ITU-R BS.1770"><ebucore:integratedLoudness>-23.0</ebucore:integratedLoudness>
</ebucore:loudnessMetadata><loudnessMetadata/><audioContentIDRef>ACO_1001</audioContentIDRef></audioProgramme>`
const [LOUDNESS, RANGE] = [
  '<BWF_LOUDNESS_VALUE>-23.1</BWF_LOUDNESS_VALUE>',
  '<LOUDNESS_RANGE unit="LU">4.5</LOUDNESS_RANGE>',
]
const METADATA = AXML.slice(AXML.indexOf('<ebucore:'), AXML.indexOf('<loudnessMetadata/>'))

/** A file that ends with a chunk. */
async function withChunk(path: string, id: string, content: Buffer): Promise<void> {
  const bytes = await readFile(path)
  const [isCaf, isRiff] = [path.endsWith('.caf'), path.endsWith('.wav')]
  const head = Buffer.alloc(isCaf ? 12 : 8)
  head.write(id, 'latin1')
  if (isCaf) head.writeBigInt64BE(BigInt(content.length), 4)
  else if (isRiff) head.writeUInt32LE(content.length, 4)
  else head.writeUInt32BE(content.length, 4)
  const whole = Buffer.concat([bytes, head, content, Buffer.alloc(isCaf ? 0 : content.length % 2)])
  if (isRiff) whole.writeUInt32LE(whole.length - 8, 4)
  else if (!isCaf) whole.writeUInt32BE(whole.length - 8, 4)
  await writeFile(path, whole)
}

it.each([
  ['wav', 'pcm_s16le', 'iXML', IXML, [LOUDNESS, RANGE], ['BWF_LOUDNESS_VALUE', 'LOUDNESS_RANGE']],
  ['wav', 'adpcm_ms', 'iXML', IXML, [LOUDNESS, RANGE], ['BWF_LOUDNESS_VALUE', 'LOUDNESS_RANGE']],
  ['wav', 'pcm_s16le', 'axml', AXML, [METADATA], ['ebucore:loudnessMetadata']],
])('puts spaces for the level of the old sound in .%s (%s, %s)', async (extension, codec, id, xml, stale, names) => {
  const path = folder.file(`${id}-${codec}.${extension}`)
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', codec, path)
  await withChunk(path, id, Buffer.from(xml))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what)).toEqual(names.map((name) => `${id}/${name}`))
  expect(censusFaults(bytesWriting(plan).census, (await readFile(path)).length)).toEqual([])
  const wanted = stale.reduce((text, element) => text.replace(element, ' '.repeat(element.length)), xml)
  expect((await readFile(part)).includes(Buffer.from(wanted))).toBe(true)
})

it.each([
  ['caf', 'pcm_s16le', 'peak'],
  ['caf', 'pcm_s16le', 'ovvw'],
  ['caf', 'alac', 'peak'],
  ['wav', 'pcm_s16le', 'LGWV'],
])('leaves out a chunk of a .%s (%s) that draws the old sound: %s', async (extension, codec, id) => {
  const path = folder.file(`${id}-${codec}.${extension}`)
  await ffmpeg(...tone(1, 44_100, 1), '-c:a', codec, path)
  await withChunk(path, id, Buffer.from('the old peaks'))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses.map(({ what }) => what.split('/').at(-1))).toEqual([id])
  expect((await readFile(part)).includes('the old peaks')).toBe(false)
})

it.each([
  ['wav', 'pcm_f32le', 'PEAK', 'LE', 4],
  ['wav', 'adpcm_ms', 'PEAK', 'LE', 4],
  ['aifc', 'pcm_f32be', 'PEAK', 'BE', 4],
  ['caf', 'pcm_f32be', 'peak', 'BE', 8],
] as const)('lists the peaks of the new sound in .%s (%s, %s)', async (extension, codec, id, order, placeBytes) => {
  const path = folder.file(`list-${codec}.${extension}`)
  const sound = 'aevalsrc=0.1*sin(2000*t)+if(eq(n\\,7000)\\,-0.8)|0.2*sin(3000*t)+if(eq(n\\,9000)\\,0.6):s=44100:d=1'
  await ffmpeg('-f', 'lavfi', '-i', sound, '-c:a', codec, path)
  const head =
    id === 'PEAK'
      ? Buffer.from([...(order === 'LE' ? [1, 0, 0, 0] : [0, 0, 0, 1]), 9, 9, 9, 9])
      : Buffer.from([0, 0, 0, 7])
  await withChunk(path, id, Buffer.concat([head, Buffer.alloc(2 * (4 + placeBytes), 0xee)]))
  const { plan, part } = await writtenFile(path)
  expect(plan.losses).toEqual([])
  const decoded = await ffmpegOutput('-i', part, '-f', 'f32le', 'pipe:1')
  const values = new Float32Array(new Uint8Array(decoded).buffer)
  const expected = [0, 1].map((channel) => {
    const own = values.filter((_, place) => place % 2 === channel).map(Math.abs)
    const value = Math.max(...own)
    const entry = Buffer.alloc(4 + placeBytes)
    entry[`writeFloat${order}`](value)
    if (placeBytes === 4) entry[`writeUInt32${order}`](own.indexOf(value), 4)
    else entry.writeBigUInt64BE(BigInt(own.indexOf(value)), 4)
    return entry
  })
  const written = await readFile(part)
  expect(written.subarray(written.indexOf(id)).includes(Buffer.concat([head, ...expected]))).toBe(true)
})

it('reads XML once, however many elements it opens', () => {
  for (const opened of ['<loudnessMetadata>', '<LOUDNESS_VALUE ', '<ebucore:loudnessMetadata a="">']) {
    const xml = Buffer.from(opened.repeat(800_000))
    expect(keepXml('axml', xml, 0)).toEqual({
      entries: [expect.objectContaining({ fate: 'kept', length: xml.length })],
      pieces: [{ kind: 'input', start: 0, length: xml.length }],
      levels: [],
    })
  }
})
