import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toVoxmuxError } from '../../../src/core/errors.js'
import {
  type BytePiece,
  bytePlan,
  CRC_32,
  lengthOf,
  offsetMap,
  pieceLength,
} from '../../../src/media/write/byte-plan.js'
import { type CensusEntry, censusFaults, kept, lost, rewritten } from '../../../src/media/write/census.js'
import { copyPlan } from '../../../src/media/write/copy-plan.js'
import { countCensus } from '../../helpers/count-census.js'
import fc from '../../helpers/properties.js'

const INPUT = Buffer.from(Array.from({ length: 300 }, (_, place) => place % 251))
const DONORS = [Buffer.from('first donor: a b c d e f g'), Buffer.from('second donor: 0 1 2 3 4 5')]

const range = (size: number) =>
  fc
    .tuple(fc.nat(size), fc.nat(size))
    .map(([one, other]) => ({ start: Math.min(one, other), length: Math.abs(one - other) }))
type CopiedPiece = Exclude<BytePiece, { readonly kind: 'checksum' }>
const piece: fc.Arbitrary<CopiedPiece> = fc.oneof(
  range(INPUT.length).map((part) => ({ kind: 'input' as const, ...part })),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => ({ kind: 'bytes' as const, bytes })),
  fc.nat(1).chain((donor) => range(25).map((part) => ({ kind: 'donor' as const, donor, ...part }))),
)

function bytesOf(pieces: readonly BytePiece[]): Buffer {
  const parts = pieces.map((part) => {
    if (part.kind === 'bytes') return part.bytes
    if (part.kind === 'checksum') return Buffer.alloc(4)
    const source = part.kind === 'input' ? INPUT : (DONORS[part.donor] as Buffer)
    return source.subarray(part.start, part.start + part.length)
  })
  const whole = Buffer.concat(parts)
  let at = 0
  for (const part of pieces) {
    if (part.kind === 'checksum') whole.writeUInt32LE(crc32(whole.subarray(at + 4, at + 4 + part.covers)), at)
    at += pieceLength(part)
  }
  return whole
}

/** Pieces with a checksum before some of them. */
const summed: fc.Arbitrary<BytePiece[]> = fc.array(fc.array(piece, { maxLength: 4 }), { maxLength: 4 }).map((runs) =>
  runs.flatMap((run): BytePiece[] => {
    const covers = run.reduce((sum, part) => sum + pieceLength(part), 0)
    return [{ kind: 'checksum', of: CRC_32, covers }, ...run]
  }),
)

let folder: string
let paths: { input: string; donors: string[] }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-byte-plan-'))
  paths = { input: join(folder, 'input'), donors: DONORS.map((_, place) => join(folder, `donor-${place}`)) }
  await writeFile(paths.input, INPUT)
  await Promise.all(DONORS.map((bytes, place) => writeFile(paths.donors[place] as string, bytes)))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a byte plan', () => {
  it('joins neighbours without changing what is written, and maps each byte of the input to its place', async () => {
    let files = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.array(piece, { maxLength: 12 }), summed), async (pieces) => {
        const plan = bytePlan(pieces)
        const wanted = bytesOf(pieces)
        expect(lengthOf(plan.pieces)).toBe(wanted.length)
        expect(bytesOf(plan.pieces)).toEqual(wanted)
        const target = join(folder, `output-${files++}`)
        await copyPlan(plan, target, paths)
        expect(await readFile(target)).toEqual(wanted)
        const map = offsetMap(plan)
        for (const part of pieces) {
          if (part.kind !== 'input' || part.length === 0) continue
          expect(map.keeps(part.start, part.length + INPUT.length)).toBe(false)
          const at = map.outputOffset(part.start)
          if (at !== undefined && at < wanted.length) expect(wanted[at]).toBe(INPUT[part.start])
        }
      }),
      { numRuns: 60 },
    )
  })

  it('is one piece if it is the whole input, however it was put together', () => {
    const plan = bytePlan([
      { kind: 'input', start: 0, length: 10 },
      { kind: 'bytes', bytes: new Uint8Array() },
      { kind: 'input', start: 10, length: 290 },
    ])
    expect(plan.pieces).toEqual([{ kind: 'input', start: 0, length: 300 }])
    expect(pieceLength(plan.pieces[0] as BytePiece)).toBe(300)
    expect(offsetMap(plan).keeps(0, 300)).toBe(true)
  })

  it('names the output if its disk fills while it is written', async (context) => {
    const disk = join(folder, 'disk')
    await mkdir(disk)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status !== 0)
      context.skip('a small disk can be mounted by root only')
    try {
      const target = join(disk, 'output')
      const plan = bytePlan([{ kind: 'bytes', bytes: Buffer.alloc(1024 ** 2) }])
      const full = await copyPlan(plan, target, { input: paths.input, donors: [] }).catch((error: unknown) => error)
      expect(toVoxmuxError(full, paths.input).message).toBe(`No space left while writing ${target}.`)
    } finally {
      spawnSync('umount', [disk])
    }
  })

  // The first page of no process is mapped.
  const unreadable = '/proc/self/mem'
  it.skipIf(process.platform !== 'linux').each([
    ['input', { kind: 'input', start: 0, length: 8 }, { input: unreadable, donors: [] }],
    [
      'side file',
      { kind: 'donor', donor: 0, start: 0, length: 8 },
      { input: import.meta.filename, donors: [unreadable] },
    ],
  ] as const)('names the %s if it cannot be read any more', async (name, part, sources) => {
    const target = join(folder, `unread ${name}`)
    const away = await copyPlan(bytePlan([part]), target, sources).catch((error: unknown) => error)
    expect(toVoxmuxError(away, sources.input)).toMatchObject({
      code: 'ERR_STORAGE_AWAY',
      message: expect.stringContaining(unreadable),
    })
  })

  it('writes and sums what is longer than its blocks', async () => {
    const long = Buffer.alloc(9 * 1024 ** 2 + 5)
    for (let at = 0; at < long.length; at += 4093) long[at] = at & 255
    const [path, target] = [join(folder, 'long'), join(folder, 'long-output')]
    await writeFile(path, long)
    const body = 4 * 1024 ** 2 + 77
    const plan = bytePlan([
      { kind: 'bytes', bytes: long.subarray(0, 4 * 1024 ** 2 - 2) },
      // Its four bytes lie across the end of the first block.
      { kind: 'checksum', of: CRC_32, covers: body + 9 },
      { kind: 'input', start: 100, length: body },
      { kind: 'donor', donor: 0, start: 1, length: 9 },
      { kind: 'checksum', of: CRC_32, covers: 10 },
      { kind: 'input', start: 5_000_000, length: 4_000_000 },
    ])
    await copyPlan(plan, target, { input: path, donors: paths.donors })
    const covered = Buffer.concat([long.subarray(100, 100 + body), (DONORS[0] as Buffer).subarray(1, 10)])
    const sum = (bytes: Uint8Array) => {
      const four = Buffer.alloc(4)
      four.writeUInt32LE(crc32(bytes))
      return four
    }
    const rest = long.subarray(5_000_000, 9_000_000)
    const head = long.subarray(0, 4 * 1024 ** 2 - 2)
    const wanted = Buffer.concat([head, sum(covered), covered, sum(rest.subarray(0, 10)), rest])
    expect((await readFile(target)).equals(wanted)).toBe(true)
    expect(lengthOf(plan.pieces)).toBe(wanted.length)
  })

  it('stops when it is aborted, and refuses an input that became shorter', async () => {
    const plan = bytePlan([{ kind: 'input', start: 0, length: INPUT.length }])
    const aborted = AbortSignal.abort()
    await expect(copyPlan(plan, join(folder, 'aborted'), { ...paths, signal: aborted })).rejects.toMatchObject({
      code: 'ERR_INTERRUPTED',
    })
    const longer = bytePlan([{ kind: 'input', start: 0, length: INPUT.length + 1 }])
    await expect(copyPlan(longer, join(folder, 'longer'), paths)).rejects.toMatchObject({ code: 'ERR_INPUT_CHANGED' })
  })
})

describe('a census', () => {
  it('names each gap and overlap, and counts structures and bytes by their fate', () => {
    const whole: CensusEntry[] = [kept('a', 0, 10), rewritten('b', 10, 5, 'size'), lost('c', 15, 5, 'signature')]
    expect(censusFaults(whole, 20)).toEqual([])
    expect(censusFaults(whole.slice(0, 2), 20)).toEqual([{ kind: 'gap', start: 15, length: 5 }])
    expect(censusFaults([...whole, kept('d', 8, 4)], 20)).toEqual([
      { kind: 'overlap', start: 8, length: 2 },
      { kind: 'overlap', start: 10, length: 2 },
    ])
    expect(countCensus(whole)).toEqual({
      structures: { kept: 1, rewritten: 1, lost: 1 },
      bytes: { kept: 10, rewritten: 5, lost: 5 },
    })
  })
})
