import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import { startCli } from '../../helpers/voxmux-cli.js'
import { watchBench } from './watch-bench.js'

describe('voxmux watch --ingest-only, and a worker beside it', () => {
  const bench = watchBench()

  it('takes in, works nothing, and leaves work and aftercare to the worker', async () => {
    const config = bench.workshop.path('voxmux.json')
    mkdirSync(bench.file('one'))
    writeFileSync(config, JSON.stringify({ watch: { folders: [{ path: bench.file('one'), source: 'move' }] } }))
    const daemon = bench.watchConfigured(config, '--ingest-only')
    await daemon.until(/"event":"watching"/)
    writeFileSync(bench.file('one/good.wav'), tinyWave(1))
    writeFileSync(bench.file('one/bad.wav'), 'no sound')
    await daemon.until(/"msg":"queued"[\s\S]*"msg":"queued"/)
    expect(bench.server.calls.registerFile).toBe(0)
    const worker = startCli(['worker', '--config', config, '--json'], {
      cwd: bench.workshop.dir,
      env: { ...bench.workshop.env, ...bench.server.env },
    })
    try {
      await until(
        () => existsSync(bench.file('one/failed/bad.wav.json')) && existsSync(bench.file('one/done/good.wav')),
      )
    } finally {
      worker.child.kill('SIGTERM')
      await worker.ended
    }
    expect(bench.names('one/out')).toEqual(['good.wav', 'good.wav.voxmux.json'])
    expect(bench.server.charges).toBe(1)
  })
})
