import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { AudioStreamInfo, MediaInfo } from '../../../src/media/media-info.js'
import { chunkPlaces } from '../../../src/media/verify/places/chunk-places.js'
import { censusFaults } from '../../../src/media/write/census.js'
import { soundChunks } from '../../../src/media/write/chunks/chunks.js'
import { copyPlan } from '../../../src/media/write/copy-plan.js'
import { chunkFile } from '../../../src/media/write/structure/chunks.js'
import fc from '../../helpers/properties.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

type Form = 'riff' | 'rf64' | 'bw64' | 'aiff' | 'w64' | 'caf'
const CONTAINERS = { riff: 'wav', rf64: 'wav', bw64: 'wav', aiff: 'aiff', w64: 'w64', caf: 'caf' } as const
const ALIGN = { riff: 2, rf64: 2, bw64: 2, aiff: 2, w64: 8, caf: 1 } as const
const WAVE = ['fmt ', 'data'] as const
const CODING = {
  ...{ riff: WAVE, rf64: WAVE, bw64: WAVE, w64: WAVE, aiff: ['COMM', 'SSND'], caf: ['desc', 'pakt', 'data'] },
} as const
const W64_RIFF = Buffer.from('726966662e91cf11a5d628db04c10000', 'hex')

interface MadeChunk {
  readonly id: string
  readonly body: Buffer
}

function chunkBytes(form: Form, { id, body }: MadeChunk): Buffer {
  const head = Buffer.alloc(form === 'w64' ? 24 : form === 'caf' ? 12 : 8)
  head.write(id, 'latin1')
  if (form === 'w64') head.writeBigUInt64LE(BigInt(24 + body.length), 16)
  else if (form === 'caf') head.writeBigInt64BE(BigInt(body.length), 4)
  else if (form === 'aiff') head.writeUInt32BE(body.length, 4)
  else if (id === 'data' && (form === 'rf64' || form === 'bw64')) head.writeUInt32LE(0xffff_ffff, 4)
  else head.writeUInt32LE(body.length, 4)
  const padding = Math.ceil(body.length / ALIGN[form]) * ALIGN[form] - body.length
  return Buffer.concat([head, body, Buffer.alloc(padding)])
}

function fileOf(form: Form, chunks: readonly MadeChunk[], trailing = Buffer.alloc(0), sampleCount = 0): Buffer {
  const body = Buffer.concat(chunks.map((made) => chunkBytes(form, made)))
  const size = Buffer.alloc(8)
  switch (form) {
    case 'rf64':
    case 'bw64': {
      // Sizes of 64 bits: those of the file and of the samples, and the number of samples.
      const sizes = Buffer.alloc(28)
      const samples = chunks.find(({ id }) => id === 'data')?.body.length ?? 0
      sizes.writeBigUInt64LE(BigInt(body.length + 4 + 36))
      sizes.writeBigUInt64LE(BigInt(samples), 8)
      sizes.writeBigUInt64LE(BigInt(sampleCount), 16)
      const head = Buffer.concat([Buffer.from(form.toUpperCase()), Buffer.alloc(4, 0xff), Buffer.from('WAVE')])
      return Buffer.concat([head, chunkBytes(form, { id: 'ds64', body: sizes }), body, trailing])
    }
    case 'riff':
      size.writeUInt32LE(body.length + 4)
      return Buffer.concat([Buffer.from('RIFF'), size.subarray(0, 4), Buffer.from('WAVE'), body, trailing])
    case 'aiff':
      size.writeUInt32BE(body.length + 4)
      return Buffer.concat([Buffer.from('FORM'), size.subarray(0, 4), Buffer.from('AIFF'), body, trailing])
    case 'w64':
      size.writeBigUInt64LE(BigInt(body.length + 40))
      return Buffer.concat([W64_RIFF, size, Buffer.alloc(16, 'wave'), body])
    case 'caf':
      return Buffer.concat([Buffer.from('caff\0\x01\0\0', 'latin1'), body])
  }
}

const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((list) => Buffer.from(list))
const unknown = fc.record({ id: fc.constantFrom('zzzz', 'LIST', 'cue ', 'iXML', 'APPL', 'uuid'), body: bytes })
const files = fc.constantFrom<Form>('riff', 'rf64', 'bw64', 'aiff', 'w64', 'caf').chain((form) =>
  fc.record({
    form: fc.constant(form),
    // Unknown chunks before, between and behind those of the coding.
    gaps: fc.array(fc.array(unknown, { maxLength: 3 }), { minLength: 4, maxLength: 4 }),
    old: fc.array(bytes, { minLength: 3, maxLength: 3 }),
    fresh: fc.array(bytes, { minLength: 3, maxLength: 3 }),
    trailing: fc.constantFrom(0, 3),
  }),
)

async function chunksOf(path: string, file: Buffer): Promise<readonly MadeChunk[]> {
  const handle = await open(path, 'r')
  const read = await chunkFile(handle, file.length)
  await handle.close()
  return (read?.chunks ?? []).map(({ id, bodyStart, bodyLength }) => {
    return { id, body: file.subarray(bodyStart, bodyStart + bodyLength) }
  })
}

/** Whether each size that a file states is right, as verification reads it. */
async function placesIn(path: string) {
  await using file = await open(path)
  return (await chunkPlaces(file)).map(({ leadsTo }) => leadsTo)
}

it('accounts for every byte of any chunks, and replaces those of the sound alone', async () => {
  await fc.assert(
    fc.asyncProperty(files, async ({ form, gaps, old, fresh, trailing }) => {
      const coding = (bodies: readonly Buffer[]) =>
        CODING[form].map((id, place) => ({ id, body: bodies[place] ?? Buffer.alloc(1) }))
      const list = coding(old).flatMap((made, place) => [...(gaps[place] ?? []), made])
      const before = [...list, ...(gaps[3] ?? [])]
      const rest = form === 'riff' || form === 'aiff' ? Buffer.alloc(trailing, 1) : Buffer.alloc(0)
      const [path, side, target] = [folder.file('made'), folder.file('side'), folder.file('out')]
      const input = fileOf(form, before, rest)
      await writeFile(path, input)
      await writeFile(side, fileOf(form, coding(fresh), undefined, 77))
      const media = { path, sizeBytes: input.length, container: CONTAINERS[form], startSec: 0, durationSec: 1 }
      const stream = { audioIndex: 0, sampleRate: 48_000, channels: 1, startSec: 0 } as unknown as AudioStreamInfo
      const encoding = { codec: 'mp3', encoder: 'libmp3lame', lossless: false, bitRate: 1, options: [] }
      const track = { input: stream, encoding, channels: 1 }
      const wanted = { media: media as unknown as MediaInfo, tracks: [track] }
      const parsed = await soundChunks.parse(wanted.media)
      if (parsed === null || typeof parsed === 'string') throw new Error('not parsed')
      const survey = soundChunks.survey(parsed, wanted)
      if (survey.kind === 'declines') throw new Error(survey.reason)
      expect(censusFaults(survey.census, input.length)).toEqual([])
      const donor = await soundChunks.readDonor(side, track, undefined, parsed)
      await copyPlan(soundChunks.layOut(parsed, wanted, [donor]), target, { input: path, donors: [side] })
      const output = await readFile(target)
      const places = await placesIn(target)
      await rm(target)
      expect(places).toContain('')
      expect(places).not.toContain(null)
      const made = coding(fresh)
      const isCoding = (id: string) => CODING[form].some((own) => own === id)
      const expected = before.map((chunk) => (isCoding(chunk.id) ? made.find(({ id }) => id === chunk.id) : chunk))
      expect(output.equals(fileOf(form, expected as readonly MadeChunk[], rest, 77))).toBe(true)
      await writeFile(target, output)
      expect((await chunksOf(target, output)).filter(({ id }) => id !== 'ds64')).toEqual(expected)
      await rm(target)
    }),
    { numRuns: process.env.VOXMUX_SOAK ? 2000 : 40 },
  )
})
