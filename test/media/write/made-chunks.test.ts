import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { AudioStreamInfo, MediaInfo } from '../../../src/media/media-info.js'
import { censusFaults } from '../../../src/media/write/census.js'
import { soundChunks } from '../../../src/media/write/chunks/chunks.js'
import { copyPlan } from '../../../src/media/write/copy-plan.js'
import { chunkFile } from '../../../src/media/write/structure/chunks.js'
import fc from '../../helpers/properties.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

type Form = 'riff' | 'aiff' | 'w64' | 'caf'
const CONTAINERS = { riff: 'wav', aiff: 'aiff', w64: 'w64', caf: 'caf' } as const
const ALIGN = { riff: 2, aiff: 2, w64: 8, caf: 1 } as const
const CODING = {
  ...{ riff: ['fmt ', 'data'], w64: ['fmt ', 'data'], aiff: ['COMM', 'SSND'], caf: ['desc', 'pakt', 'data'] },
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
  else head.writeUInt32LE(body.length, 4)
  const padding = Math.ceil(body.length / ALIGN[form]) * ALIGN[form] - body.length
  return Buffer.concat([head, body, Buffer.alloc(padding)])
}

function fileOf(form: Form, chunks: readonly MadeChunk[], trailing = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat(chunks.map((made) => chunkBytes(form, made)))
  const size = Buffer.alloc(8)
  switch (form) {
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
const files = fc.constantFrom<Form>('riff', 'aiff', 'w64', 'caf').chain((form) =>
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
      await writeFile(side, fileOf(form, coding(fresh)))
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
      await rm(target)
      const made = coding(fresh)
      const isCoding = (id: string) => CODING[form].some((own) => own === id)
      const expected = before.map((chunk) => (isCoding(chunk.id) ? made.find(({ id }) => id === chunk.id) : chunk))
      expect(output.equals(fileOf(form, expected as readonly MadeChunk[], rest))).toBe(true)
      await writeFile(target, output)
      expect(await chunksOf(target, output)).toEqual(expected)
      await rm(target)
    }),
    { numRuns: process.env.VOXMUX_SOAK ? 2000 : 40 },
  )
})
