import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { runCliInProcess } from '../../../helpers/command-in-process.js'
import { until } from '../../../helpers/until.js'
import { handlesOf, watchBench } from '../watch-bench.js'

describe('voxmux watch, in a folder of two ledgers', () => {
  const bench = watchBench()
  const { dropSound, published, isPublished, starts } = handlesOf(bench)
  /** Marks in the folder of outputs. */
  const marks = () => readdirSync(bench.file('out')).filter((name) => name.endsWith('.watched'))
  /** Another machine: it has a state folder of its own. */
  const onceElsewhere = (...more: readonly string[]) =>
    runCliInProcess(['watch', 'in', '--settle', '0.3', '--scan', '0.3', '--once', ...more], {
      cwd: bench.workshop.dir,
      env: {
        PATH: '/usr/bin:/bin',
        ...bench.workshop.env,
        ...bench.server.env,
        VOXMUX_STATE_DIR: bench.workshop.path('other state'),
      },
    })

  it('leaves the files to the first daemon until that is gone, so that none is paid for twice', async () => {
    const daemon = bench.watch()
    await daemon.until(/"event":"watching"/)
    bench.server.fail('registerFile', { kind: 'status', status: 503 }, 1000)
    const asked = bench.server.calls.registerFile
    dropSound(1, 'a.wav')
    await until(() => bench.server.calls.registerFile > asked)
    const refused = await onceElsewhere()
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toMatch(/in is watched by .* with another ledger.*--store/s)
    bench.server.heal()
    await published('a.wav')
    expect(starts()).toBe(1)

    // Killed, it cannot remove its mark. On another machine the mark counts until it is old.
    daemon.child.kill('SIGKILL')
    await daemon.ended
    dropSound(2, 'b.wav')
    const mark = bench.file(`out/${marks()[0]}`)
    const left = readFileSync(mark, 'utf8')
    writeFileSync(mark, left.replaceAll(hostname(), 'another-machine'))
    expect((await onceElsewhere()).exitCode).toBe(4)
    expect(isPublished('b.wav')).toBe(false)
    utimesSync(mark, 1, 1)
    expect((await onceElsewhere()).exitCode).toBe(0)
    expect(isPublished('b.wav')).toBe(true)

    // On the same machine the process can be looked for.
    writeFileSync(mark, left)
    dropSound(3, 'c.wav')
    expect((await onceElsewhere()).exitCode).toBe(0)
    expect(isPublished('c.wav')).toBe(true)
    expect(starts()).toBe(3)
    expect(marks()).toEqual([])

    // Another daemon of the same ledger renews the mark of a dead one at once.
    writeFileSync(mark, left)
    await bench.watch().until(/"event":"watching"/)
    expect((await onceElsewhere()).exitCode).toBe(4)
  })

  it('shares the folder with a daemon of the same ledger, and with one whose outputs go elsewhere', async () => {
    const daemon = bench.watchThrough(['sh', '-c', 'umask 077 && exec "$@"', 'sh'])
    await daemon.until(/"event":"watching"/)
    // A daemon of another user reads it, too.
    expect(marks().map((mark) => statSync(bench.file(`out/${mark}`)).mode & 0o777)).toEqual([0o644])
    dropSound(1, 'a.wav')
    await published('a.wav')
    expect((await bench.once()).exitCode).toBe(0)
    mkdirSync(bench.workshop.path('elsewhere'))
    expect((await onceElsewhere('--out', 'elsewhere')).exitCode).toBe(0)
    expect(existsSync(bench.workshop.path('elsewhere/a.wav'))).toBe(true)
    expect((await onceElsewhere()).exitCode).toBe(4)
    daemon.child.kill('SIGTERM')
    await daemon.ended
    expect(marks()).toEqual([])
    expect((await onceElsewhere()).exitCode).toBe(0)
  })
})
