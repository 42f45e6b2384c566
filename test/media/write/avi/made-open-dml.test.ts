import { expect, it } from 'vitest'
import fc from '../../../helpers/properties.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { list, streamList } from './made-avi.js'
import { openDmlFile, readIndices, readParts } from './made-open-dml.js'
import { replaceSound } from './replace-sound.js'

const folder = folderOfTests()

const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 40 }).map((values) => Buffer.from(values))
const chunkOf = (...ids: readonly string[]) => fc.record({ id: fc.constantFrom(...ids), body: bytes(0) })
const packet = chunkOf('00dc', '01wb', '02wb', '03tx', 'JUNK')
const packets = fc.array(packet, { minLength: 1, maxLength: 6 })
const batch = fc.array(
  fc.oneof(
    packet,
    packets.map((inside) => list('rec ', inside)),
  ),
  { maxLength: 6 },
)
const films = fc.record({
  parts: fc.array(fc.array(batch, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  before: fc.array(chunkOf('IDIT', 'JUNK', 'zzzz'), { maxLength: 2 }),
  behind: fc.array(chunkOf('IDIT', 'JUNK', 'zzzz'), { maxLength: 2 }),
  base: fc.constantFrom('list' as const, 'file' as const, 'packet' as const),
  form: fc.constantFrom('super' as const, 'standard' as const),
  oldIndices: fc.constantFrom('none' as const, 'first' as const, 'all' as const),
  oldFrom: fc.constantFrom('list' as const, 'file' as const),
  spare: fc.constantFrom(0, 3),
  trailing: fc.constantFrom(0, 3),
  voices: fc.constantFrom<readonly number[]>([0], [1], [0, 1]),
  fresh: fc.array(fc.array(bytes(0), { minLength: 1, maxLength: 20 }), { minLength: 2, maxLength: 2 }),
})
type Film = typeof films extends fc.Arbitrary<infer Value> ? Value : never

/** The new sound has one packet less than the old, whose part then has none. */
const LOST_PACKET: Film = {
  ...{ before: [], behind: [], base: 'list', form: 'super', oldIndices: 'all', oldFrom: 'file', spare: 0, trailing: 0 },
  parts: [[[]], [[{ id: '02wb', body: Buffer.alloc(0) }]]],
  voices: [0, 1],
  fresh: [[Buffer.alloc(0)], [Buffer.alloc(0)]],
}

function inputOf({ parts, form, ...film }: Film): Buffer {
  // Each sound has a packet at least, and one index in the headers has one place that it counts from.
  const sounds = ['01wb', '02wb'].map((id) => ({ id, body: Buffer.from(id) }))
  const [[first = [], ...others] = [], ...later] = parts
  const streams = [
    streamList('vids', 25, Buffer.alloc(40), []),
    streamList('auds', 20, Buffer.alloc(18, 1), []),
    streamList('auds', 7, Buffer.alloc(18, 1), []),
    streamList('vids', 1, Buffer.alloc(40), []),
  ]
  const headers = [{ id: 'avih', body: Buffer.alloc(56, 7) }, ...streams, list('odml', [])]
  const base = form === 'standard' && film.base !== 'file' ? 'list' : film.base
  return openDmlFile({
    ...film,
    streams: ['00dc', '01wb', '02wb'],
    form,
    base,
    headers,
    parts: [[[...sounds, ...first], ...others], ...later],
  })
}

it('replaces the packets of any sound in the parts of OpenDML, and no other chunk', async () => {
  await fc.assert(
    fc.asyncProperty(films, async (film) => {
      const input = inputOf(film)
      const output = await replaceSound(folder, input, film)

      const [before, after] = [readParts(input), readParts(output)]
      const bodyOf = (file: Buffer, { at, size }: { at: number; size: number }) => file.subarray(at + 8, at + 8 + size)
      const isNew = new Set(film.voices.map((voice) => `0${voice + 1}wb`))
      const isIndex = /\/(ix\d\d|indx|idx1|str[hf])$/
      const others = (file: Buffer, { chunks }: typeof before) =>
        chunks.flatMap(({ path: name, part, ...chunk }) => {
          if (isNew.has(name.slice(-4))) return []
          const isPlain = !isIndex.test(name) && !/^AVI|^\/(movi|hdrl)$|\/(rec |strl)$/.test(name)
          return [{ name, part, body: isPlain ? bodyOf(file, chunk).toString('hex') : null }]
        })
      expect(others(output, after)).toEqual(others(input, before))
      expect(output.subarray(after.end)).toEqual(input.subarray(before.end))
      for (const [voice, id] of ['01wb', '02wb'].entries()) {
        const soundOf = (file: Buffer, { chunks }: typeof before) =>
          chunks.filter(({ path: name }) => name.endsWith(`/${id}`)).map((chunk) => bodyOf(file, chunk))
        expect(soundOf(output, after)).toEqual(isNew.has(id) ? film.fresh[voice] : soundOf(input, before))
      }

      const { supers, old } = readIndices(output)
      for (const [stream, { entries, durations }] of supers.entries()) {
        const id = ['00dc', '01wb', '02wb'][stream] ?? ''
        const places = after.chunks.filter(({ path: name }) => name.endsWith(`/${id}`))
        expect(entries).toEqual(places.map(({ at, size }) => ({ at, size })))
        if (film.form === 'super') expect(durations.reduce((sum, each) => sum + each, 0)).toBe(places.length)
      }
      for (const { part, entries } of old) {
        const own = after.chunks.filter((chunk) => chunk.part === part && chunk.path.startsWith('/movi/'))
        const movi = after.chunks.find((chunk) => chunk.part === part && chunk.path === '/movi')
        const from = film.oldFrom === 'file' ? 0 : (movi?.at ?? 0) + 8
        expect(entries).toEqual(own.map(({ path: name, at, size }) => ({ id: name.slice(-4), at: at - from, size })))
      }
    }),
    { numRuns: process.env.VOXMUX_SOAK ? 2000 : 60, examples: [[LOST_PACKET]] },
  )
})
