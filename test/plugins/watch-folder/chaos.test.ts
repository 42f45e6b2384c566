import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { receiptSchema } from '../../../src/pipeline/output/receipt.js'
import type { Fault, FaultOperation } from '../../helpers/fault-server.js'
import { fixture } from '../../helpers/job-bench.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import type { RunningCli } from '../../helpers/voxmux-cli.js'
import { filesBelow, sha256Of, watchBench } from './watch-bench.js'

const [FILES, KILLS] = process.env.VOXMUX_SOAK ? [100, 30] : [8, 2]
/** Of a daemon before it is killed: long enough for some files to be published. */
const LONGEST_LIFE_MS = process.env.VOXMUX_SOAK ? 4000 : 2500
const LIMIT_MS = process.env.VOXMUX_SOAK ? 1_800_000 : 240_000

/** Where things go wrong at the service, again and again. */
const FAULTS: readonly (readonly [FaultOperation, Fault])[] = [
  ['registerFile', { kind: 'status', status: 503 }],
  ['registerFile', { kind: 'reset-after' }],
  ['upload', { kind: 'reset' }],
  ['startProcess', { kind: 'reset-after' }],
  ['startProcess', { kind: 'start-error', code: 500 }],
  ['getFilesStatus', { kind: 'truncated' }],
  ['getFilesStatus', { kind: 'status', status: 429, retryAfter: '1' }],
  ['getOutputFileUrl', { kind: 'expired-link' }],
  ['download', { kind: 'reset-after' }],
  ['token', { kind: 'status', status: 500 }],
]

const bench = watchBench()

it(`${FILES} files, good, bad, growing and renamed, under ${KILLS} kill -9s and a service that fails at random`, {
  timeout: LIMIT_MS,
}, async () => {
  const random = seeded(Number(process.env.VOXMUX_SEED ?? Date.now()))
  // One in wait at a time, or they would pile up while nobody asks.
  const faults = setInterval(() => {
    bench.server.heal()
    bench.server.fail(...random.oneOf(FAULTS))
  }, 300)
  const sources = new Map<string, Source>()
  const bad: string[] = []
  const dropping = dropAll(random, sources, bad)
  let daemon: RunningCli = bench.watch('--concurrency', '4')
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(random.between(800, LONGEST_LIFE_MS))
    daemon.child.kill('SIGKILL')
    await daemon.ended
    daemon = bench.watch('--concurrency', '4')
  }
  await dropping
  clearInterval(faults)
  bench.server.heal()
  await until(() => [...sources.values()].every(outputOf) && bad.every(bench.report))
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).exitCode).toBe(0)

  const outputs = [...sources.values()].map((source) => outputOf(source) ?? '')
  expect(bench.names('out')).toEqual(outputs.flatMap((name) => [name, `${name}.voxmux.json`]).sort())
  expect(bench.names('failed')).toEqual(bad.map((name) => `${name}.json`).sort())
  for (const [name, source] of sources) {
    const output = bench.file(`out/${outputOf(source)}`)
    const receipt = receiptSchema.parse(JSON.parse(readFileSync(`${output}.voxmux.json`, 'utf8')))
    expect(receipt.input.sha256).toBe(source.sha256)
    expect(receipt.output.sha256).toBe(sha256Of(output))
    expect(sha256Of(bench.file(name))).toBe(source.sha256)
  }
  for (const name of bad) expect(sha256Of(bench.file(name))).toBe(sha256Of(fixture('truncated.mp4')))
  // Sources, outputs with their receipts, reports: no part file among them.
  expect(filesBelow(bench.workshop.path('in'))).toHaveLength(sources.size * 3 + bad.length * 2)
  // One process that was charged for a file, and one file id.
  expect(bench.server.charges).toBe(sources.size)
  expect(bench.server.files.filter(({ charges }) => charges > 0)).toHaveLength(sources.size)
  process.stdout.write(
    `chaos: ${sources.size} good, ${bad.length} bad, ${KILLS} kills; ${bench.server.charges} charged, ` +
      `${bench.server.calls.startProcess} startProcess calls, ${bench.server.files.length} files registered\n`,
  )
})

/** What is to come out of a source. */
interface Source {
  readonly sha256: string
  /** Names that its one output may have: a file that was renamed in hand keeps the one that it had. */
  readonly outputs: readonly string[]
}

function outputOf({ outputs }: Source): string | undefined {
  return outputs.find((name) => existsSync(bench.file(`out/${name}.voxmux.json`)))
}

type Random = ReturnType<typeof seeded>

/** Drops the files one after the other, each in its way. @param sources by the name that each ends with */
async function dropAll(random: Random, sources: Map<string, Source>, bad: string[]): Promise<void> {
  const slow: Promise<void>[] = []
  const note = (name: string, before = name) => {
    sources.set(name, { sha256: sha256Of(bench.file(name)), outputs: [...new Set([before, name])] })
  }
  for (let number = 0; number < FILES; number++) {
    const wave = tinyWave(number)
    const name = (kind: string) => `${kind} ${number}.wav`
    switch (number % 4) {
      case 0:
        writeFileSync(bench.file(name('plain')), wave)
        note(name('plain'))
        break
      case 1:
        slow.push(grow(name('growing'), wave, random).then(() => note(name('growing'))))
        break
      case 2:
        writeFileSync(bench.file(name('first')), wave)
        slow.push(
          sleep(random.between(100, 2500)).then(() => {
            renameSync(bench.file(name('first')), bench.file(name('second')))
            note(name('second'), name('first'))
          }),
        )
        break
      default:
        copyFileSync(fixture('truncated.mp4'), bench.file(`bad ${number}.mp4`))
        bad.push(`bad ${number}.mp4`)
    }
    await sleep(random.between(0, 200))
  }
  await Promise.all(slow)
}

/** Writes a file in pieces that stand still for longer than it takes to settle. */
async function grow(name: string, bytes: Buffer, random: Random): Promise<void> {
  const file = await open(bench.file(name), 'w')
  for (let at = 0; at < bytes.length; at += 2000) {
    await file.write(bytes, at, Math.min(2000, bytes.length - at), at)
    await sleep(random.between(300, 900))
  }
  await file.close()
}

/** Numbers that come again with the same seed, which a failure can be run with (VOXMUX_SEED). */
function seeded(seed: number) {
  process.stdout.write(`seed ${seed}\n`)
  let state = seed % 2_147_483_647
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return {
    between: (low: number, high: number) => low + next() * (high - low),
    oneOf: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
  }
}
