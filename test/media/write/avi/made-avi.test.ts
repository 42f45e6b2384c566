import { expect, it } from 'vitest'
import fc from '../../../helpers/properties.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { aviFile, list, readAvi, streamList } from './made-avi.js'
import { replaceSound } from './replace-sound.js'

const folder = folderOfTests()

const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 40 }).map((values) => Buffer.from(values))
const chunkOf = (...ids: readonly string[]) => fc.record({ id: fc.constantFrom(...ids), body: bytes(0) })
/** Pictures, both sounds, subtitles and padding, in any order. */
const packet = chunkOf('00dc', '01wb', '02wb', '03tx', 'JUNK')
const packets = fc.array(packet, { minLength: 1, maxLength: 8 })
const films = fc.record({
  // Lists that join packets, and packets outside them.
  movi: fc.array(
    fc.oneof(
      packet,
      packets.map((inside) => list('rec ', inside)),
    ),
    { minLength: 1, maxLength: 12 },
  ),
  inHeaders: fc.array(chunkOf('vprp', 'JUNK', 'zzzz'), { maxLength: 2 }),
  inStream: fc.array(chunkOf('strd', 'strn', 'zzzz'), { maxLength: 2 }),
  before: fc.array(chunkOf('IDIT', 'JUNK', 'zzzz'), { maxLength: 2 }),
  behind: fc.array(chunkOf('IDIT', 'JUNK', 'zzzz'), { maxLength: 2 }),
  indexFrom: fc.constantFrom('list', 'file', null),
  trailing: fc.constantFrom(0, 3),
  rates: fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 })),
  voices: fc.constantFrom<readonly number[]>([0], [1], [0, 1]),
  fresh: fc.array(fc.array(bytes(0), { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 2 }),
})
type Film = typeof films extends fc.Arbitrary<infer Value> ? Value : never

function inputOf({ movi, inHeaders, inStream, before, behind, indexFrom, trailing, rates }: Film): Buffer {
  // Each sound has a packet at least.
  const sounds = ['01wb', '02wb'].map((id) => ({ id, body: Buffer.from(id) }))
  const streams = [
    streamList('vids', 25, Buffer.alloc(40), []),
    ...rates.map((rate) => streamList('auds', rate, Buffer.alloc(18, 1), inStream)),
    streamList('vids', 1, Buffer.alloc(40), []),
  ]
  const hdrl = list('hdrl', [{ id: 'avih', body: Buffer.alloc(56, 7) }, ...streams, ...inHeaders])
  const chunks = [hdrl, ...before, list('movi', [...sounds, ...movi]), ...behind]
  return aviFile(chunks, { indexFrom, trailing: Buffer.alloc(trailing, 1) })
}

it('replaces the packets of any sound, and no other chunk', async () => {
  await fc.assert(
    fc.asyncProperty(films, async (film) => {
      const input = inputOf(film)
      const output = await replaceSound(folder, input, film)

      const [before, after] = [readAvi(input), readAvi(output)]
      const isNew = new Set(film.voices.map((voice) => `0${voice + 1}wb`))
      const soundOf = ({ chunks }: typeof before, id: string) =>
        chunks.filter(({ path: name }) => name.endsWith(`/${id}`)).map(({ body }) => body)
      const others = ({ chunks }: typeof before) =>
        chunks.filter(({ path: name }) => !isNew.has(name.slice(-4)) && !/str[hf]$/.test(name))
      expect(others(after)).toEqual(others(before))
      for (const [voice, id] of ['01wb', '02wb'].entries()) {
        expect(soundOf(after, id)).toEqual(isNew.has(id) ? film.fresh[voice] : soundOf(before, id))
      }
      const codings = soundOf(after, 'strf').map((body) => body?.length)
      expect(codings).toEqual([40, ...[0, 1].map((voice) => (film.voices.includes(voice) ? 30 : 18)), 40])
      expect(output.subarray(after.end)).toEqual(input.subarray(before.end))
      expect(indexOf(after)).toEqual(film.indexFrom === null ? null : after.packets)
    }),
    { numRuns: process.env.VOXMUX_SOAK ? 2000 : 60 },
  )
})

it('leaves an AVI of which ffmpeg reads other streams alone', async () => {
  const [film] = fc.sample(films, { numRuns: 1, seed: 1 }) as [Film]
  const written = replaceSound(folder, inputOf(film), { ...film, streamCount: 5 })
  await expect(written).rejects.toThrow('it has other streams than ffmpeg reads')
})

/** The entries of the index, with their places in the file. */
function indexOf({ index, packets, moviAt }: ReturnType<typeof readAvi>) {
  if (!index) return null
  const from = (packets[0]?.at ?? 0) - index.readUInt32LE(8)
  expect([0, moviAt]).toContain(from)
  return Array.from({ length: index.length / 16 }, (_, row) => {
    const entry = index.subarray(16 * row, 16 * row + 16)
    const [at, size] = [from + entry.readUInt32LE(8), entry.readUInt32LE(12)]
    return { id: entry.toString('latin1', 0, 4), at, size }
  })
}
