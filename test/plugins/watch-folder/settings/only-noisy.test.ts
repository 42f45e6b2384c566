import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Receipt } from '../../../../src/pipeline/output/receipt.js'
import { makeWav } from '../../../helpers/sound/engine-fixtures.js'
import { noisySpeech } from '../../../helpers/sound/made-speech.js'
import { watchBench } from '../watch-bench.js'

const bench = watchBench()
const RATE = 48_000

it('voxmux watch sends only noise of a folder with onlyNoisy, and nothing clean of one with skipClean, which it certifies with qc', {
  timeout: 240_000,
}, async () => {
  const { clean, noisy } = noisySpeech(9 * RATE, { noiseGain: 0.1, seed: 9 })
  const sound = (noisySec: number) => clean.map((value, i) => 0.5 * (i < noisySec * RATE ? (noisy[i] ?? 0) : value))
  const folders = [
    { path: bench.file('parts'), onlyNoisy: true },
    { path: bench.file('skipped'), skipClean: true, qc: 'apple-podcasts' },
    { path: bench.file('whole') },
  ]
  for (const { path } of folders) mkdirSync(path)
  makeWav(bench.file('parts/a.wav'), sound(2))
  makeWav(bench.file('skipped/b.wav'), sound(0))
  makeWav(bench.file('whole/c.wav'), sound(0))
  const config = bench.workshop.path('voxmux.json')
  writeFileSync(config, JSON.stringify({ watch: { folders } }))
  const { exitCode, stderr } = await bench.watchConfigured(config, '--once').ended
  expect(exitCode, stderr).toBe(0)

  const receipt = (name: string): Receipt => {
    const path = bench.file(`${name}.voxmux.json`)
    expect(existsSync(path), path).toBe(true)
    return JSON.parse(readFileSync(path, 'utf8'))
  }
  const [parts, skipped, whole] = [receipt('parts/out/a.wav'), receipt('skipped/out/b.wav'), receipt('whole/out/c.wav')]
  expect(parts.segments).toHaveLength(1)
  expect(parts.segments[0]?.endSec).toBeLessThan(7)
  expect([skipped.segments, whole.segments]).toEqual([[], [{ startSec: 0, endSec: 9 }]])
  expect(readFileSync(bench.file('skipped/out/b.wav')).equals(readFileSync(bench.file('skipped/b.wav')))).toBe(true)
  expect([skipped, whole].map(({ certificate }) => certificate?.standard)).toEqual(['apple-podcasts', undefined])
  expect(bench.server.charges).toBe(2)
})
