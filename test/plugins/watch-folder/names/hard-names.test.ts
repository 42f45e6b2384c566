import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { receiptSchema } from '../../../../src/pipeline/output/receipt.js'
import { tinyWave } from '../../../helpers/sound/tiny-wave.js'
import { until } from '../../../helpers/until.js'
import { eventsOf } from '../../../helpers/voxmux-cli.js'
import { watchBench } from '../watch-bench.js'

/** Of 255 bytes, the most that a file system takes. */
const LONGEST = `${'é'.repeat(125)}x.wav`
const NAMES = [
  LONGEST,
  '-i.wav',
  ' two  spaces .wav',
  'line\nbreak.wav',
  `quotes ' " \` $HOME %d.wav`,
  'caf\u00e9.wav',
  // The same to the eye; another file to Linux.
  'cafe\u0301.wav',
  'day 🎬/--/take #1?.wav',
]

const bench = watchBench()

it('publishes files of any name under that name, beside links that lead in circles and a name that is not UTF-8', {
  timeout: 240_000,
}, async () => {
  for (const [number, name] of NAMES.entries()) {
    mkdirSync(dirname(bench.file(name)), { recursive: true })
    writeFileSync(bench.file(name), tinyWave(number))
  }
  symlinkSync('.', bench.file('loop'))
  symlinkSync('../day 🎬', bench.file('day 🎬/loop'))
  writeFileSync(Buffer.from(bench.file('caf\xe9.wav'), 'latin1'), tinyWave(0))
  expect(Buffer.byteLength(LONGEST)).toBe(255)
  // With --poll, a search follows the other.
  const daemon = bench.watch('--poll')
  const published = () => bench.names('out').filter((name) => name.endsWith('.voxmux.json'))
  await until(() => published().length === NAMES.length)
  daemon.child.kill('SIGTERM')
  const result = await daemon.ended
  expect(result.exitCode, result.stderr).toBe(0)
  expect(eventsOf(result).at(-1)).toMatchObject({ done: NAMES.length, failed: 0, rejected: 0 })
  expect(result.stderr.match(/its name is not UTF-8, so rename it/g)).toHaveLength(1)

  const made = readdirSync(bench.file('out'), { recursive: true, encoding: 'utf8' })
  const outputs = made.filter((name) => name.endsWith('.wav'))
  // Only the longest must make room for the receipt that lies beside it.
  const cut = outputs.find((name) => !NAMES.includes(name)) ?? ''
  expect(cut).toMatch(/^é{100,}~[0-9a-f]{8}\.wav$/)
  const nameOf = (name: string) => (name === LONGEST ? cut : name)
  expect(outputs.toSorted()).toEqual(NAMES.map(nameOf).toSorted())
  const receipts = new Map(
    made
      .filter((name) => name.endsWith('.json'))
      .map((name) => {
        const receipt = receiptSchema.parse(JSON.parse(readFileSync(join(bench.file('out'), name), 'utf8')))
        return [receipt.output.path, receipt.input.sha256]
      }),
  )
  const expected = NAMES.map((name, number): [string, string] => [
    bench.file(`out/${nameOf(name)}`),
    createHash('sha256').update(tinyWave(number)).digest('hex'),
  ])
  expect(receipts).toEqual(new Map(expected))
  expect(bench.names('failed')).toEqual([])
  expect(bench.server.charges).toBe(NAMES.length)
})
