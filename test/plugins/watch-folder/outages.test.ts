import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tinyWave } from '../../helpers/tiny-wave.js'
import { eventsOf } from '../../helpers/voxmux-cli.js'
import { filesBelow, watchBench } from './watch-bench.js'

/** Several starts of the daemon, on a machine that has other tests to run. */
const LONG_MS = 120_000

describe('a daemon whose folders fail it', () => {
  const bench = watchBench()
  const out = (name = '') => join(bench.workshop.path('out'), name)
  const expectOnce = (...names: readonly string[]) => {
    expect(filesBelow(out())).toEqual(names.flatMap((name) => [name, `${name}.voxmux.json`]))
    expect(bench.server.charges).toBe(names.length)
    expect(bench.names('failed')).toEqual([])
  }

  it('pays for nothing again where its whole state is lost: receipts say what is done', {
    timeout: LONG_MS,
  }, async () => {
    const names = ['a.wav', 'b.wav', 'day 2/c.wav']
    mkdirSync(bench.file('day 2'))
    for (const [index, name] of names.entries()) writeFileSync(bench.file(name), tinyWave(index))
    expect((await bench.watch('--once', '--out', 'out').ended).exitCode).toBe(0)
    expectOnce(...names)
    const made = names.map((name) => statSync(out(name)).ino)
    const { calls } = bench.server
    const asked = { ...calls }
    rmSync(bench.workshop.env.VOXMUX_STATE_DIR ?? '', { recursive: true })
    const result = await bench.watch('--once', '--out', 'out').ended
    expect(result.exitCode, result.stderr).toBe(0)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', skipped: 3, done: 0, failed: 0 })
    expect(names.map((name) => statSync(out(name)).ino)).toEqual(made)
    expectOnce(...names)
    for (const operation of ['registerFile', 'upload', 'startProcess'] as const)
      expect(calls[operation]).toBe(asked[operation])
    // And from now on they are known.
    expect(eventsOf(await bench.watch('--once', '--out', 'out').ended).at(-1)).toMatchObject({ skipped: 0, done: 0 })
  })
})
