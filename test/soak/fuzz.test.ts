import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { VoxmuxError } from '../../src/core/errors.js'
import { checkFile } from '../../src/pipeline/job/check-file.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { FaultServer } from '../helpers/fault-server.js'
import { decodedPcm } from '../helpers/job-bench.js'
import { openTestPipeline, requestFor, type TestPipeline } from '../helpers/test-pipeline.js'
import { type ZooFolder, zooFolder } from '../media/zoo/zoo-folder.js'
import { ZOO } from '../media/zoo/zoo-rows.js'

const MUTATIONS = process.env.VOXMUX_SOAK ? 500 : 4
/** No file of this size may take longer, however broken. */
const LONGEST_MS = 60_000

let folder: ZooFolder
let server: FaultServer
let pipeline: TestPipeline
beforeAll(async () => {
  folder = await zooFolder()
  server = await FaultServer.start()
  pipeline = await openTestPipeline(server, folder.file('state'))
})
afterAll(async () => {
  await pipeline.close()
  await server.close()
  await folder.remove()
})

/** The same numbers at every run, so that a finding can be found again (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below
  }
}

type Mutation = (file: Buffer, other: Buffer, random: (below: number) => number) => Buffer

const MUTATE: readonly Mutation[] = [
  function flipBits(file, _other, random) {
    const made = Buffer.from(file)
    for (let count = 1 + random(64); count > 0; count--) {
      const at = Math.floor(random(made.length))
      made.writeUInt8((made[at] ?? 0) ^ (1 << Math.floor(random(8))), at)
    }
    return made
  },
  function flipHeader(file, _other, random) {
    const made = Buffer.from(file)
    for (let count = 1 + random(8); count > 0; count--)
      made.writeUInt8(Math.floor(random(256)), Math.floor(random(Math.min(made.length, 1024))))
    return made
  },
  function truncate(file, _other, random) {
    return file.subarray(0, Math.floor(random(file.length)))
  },
  function spliceHeader(file, other, random) {
    const length = Math.floor(random(Math.min(2048, file.length, other.length)))
    return Buffer.concat([other.subarray(0, length), file.subarray(length)])
  },
]

it(
  `${MUTATIONS} broken files: no crash, no hang, no output for what cannot be decoded, a typed error each`,
  async () => {
    const random = randomNumbers(20_260)
    const rows = ZOO.filter(({ soak }) => !soak || process.env.VOXMUX_SOAK)
    const ends = { done: 0, refused: 0 }
    for (let round = 0; round < MUTATIONS; round++) {
      const pick = () => rows[Math.floor(random(rows.length))] ?? rows[0]
      const [row, other] = [pick(), pick()]
      const mutate = MUTATE[round % MUTATE.length]
      if (!row || !other || !mutate) throw new Error('The zoo is empty.')
      const [file, head] = [await readFile(await folder.take(row)), await readFile(await folder.take(other))]
      const path = folder.file(`${round}-${row.name}`)
      await writeFile(path, mutate(file, head, random))
      const what = `${mutate.name} of ${row.name} in round ${round}`
      const signal = AbortSignal.timeout(LONGEST_MS)
      const request = requestFor(path, { recipe: { track: 'all', channels: 'auto' } })
      const checked = await checkFile(path, request.settings, { limits: {}, isEmbedded: false }, signal)
      expect(checked.file.error?.code ?? 'ERR_NONE', `check: ${what}`).toMatch(/^ERR_/)
      const outcome = await runJob(request, pipeline.context, { signal }).catch((error: unknown) => {
        expect(error, what).toBeInstanceOf(VoxmuxError)
        return { error: error as VoxmuxError, event: { output: null } }
      })
      expect(signal.aborted, `${what} hung`).toBe(false)
      if (outcome.error) {
        expect(outcome.error, what).toBeInstanceOf(VoxmuxError)
        expect(outcome.error.code, what).toMatch(/^ERR_/)
        expect(outcome.event.output, what).toBeNull()
        ends.refused++
      } else {
        expect(existsSync(outcome.event.output ?? ''), what).toBe(true)
        expect((await decodedPcm(path)).length, `${what} cannot be decoded`).toBeGreaterThan(0)
        ends.done++
      }
    }
    expect(ends.done + ends.refused).toBe(MUTATIONS)
    expect(ends.refused).toBeGreaterThan(0)
  },
  process.env.VOXMUX_SOAK ? 3_600_000 : 600_000,
)
