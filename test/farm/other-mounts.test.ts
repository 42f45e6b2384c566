import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSharedLedger } from '../../src/ledger/index.js'
import { FaultServer } from '../helpers/fault-server.js'
import { tinyWave } from '../helpers/sound/tiny-wave.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop } from '../helpers/workshop.js'
import { filesBelow, sha256Of } from '../plugins/watch-folder/watch-bench.js'

describeOnPostgres('a share that two machines have mounted in different places', (store) => {
  /** The share as one machine has it at `mount`, with its configuration and a state folder of its own. */
  function machines() {
    const workshop = openWorkshop()
    const server = FaultServer.start()
    onTestFinished(async () => {
      workshop.remove()
      await (await server).close()
    })
    mkdirSync(workshop.path('share/in'), { recursive: true })
    symlinkSync(workshop.path('share'), workshop.path('elsewhere'))
    return {
      workshop,
      start: async (command: readonly string[], mount: 'share' | 'elsewhere') => {
        const here = workshop.path(mount)
        const folder = { path: join(here, 'in'), source: 'move', settleSec: 0.3, patienceSec: 1.5, scanSec: 0.3 }
        const config = workshop.path(`${mount}.json`)
        writeFileSync(config, JSON.stringify({ paths: [{ store: 'nas:', here }], watch: { folders: [folder] } }))
        const started = startCli([...command, '--config', config, '--store', store().url, '--json'], {
          cwd: workshop.dir,
          env: { ...workshop.env, ...(await server).env, VOXMUX_STATE_DIR: workshop.path(`state-${mount}`) },
        })
        onTestFinished(async () => {
          started.child.kill('SIGKILL')
          await started.ended
        })
        return started
      },
    }
  }

  it('is worked off, with its aftercare, by a worker that has it elsewhere', { timeout: 240_000 }, async () => {
    const { workshop, start } = machines()
    const daemon = await start(['watch', '--ingest-only'], 'share')
    await daemon.until(/"event":"watching"/)
    writeFileSync(workshop.path('share/in/good.wav'), tinyWave(1))
    writeFileSync(workshop.path('share/in/bad.wav'), 'no sound')
    await daemon.until(/"msg":"queued"[\s\S]*"msg":"queued"/)
    const worker = await start(['worker'], 'elsewhere')
    const inShare = (path: string) => workshop.path(`share/in/${path}`)
    await until(() => existsSync(inShare('failed/bad.wav.json')) && existsSync(inShare('done/good.wav')))
    expect(filesBelow(inShare('out'))).toEqual(['good.wav', 'good.wav.voxmux.json'])

    // A newer version of the file, done where the share has its other name: the older output gives way.
    const firstOutput = sha256Of(inShare('out/good.wav'))
    worker.child.kill('SIGTERM')
    await worker.ended
    await start(['worker'], 'share')
    writeFileSync(inShare('good.wav'), tinyWave(2))
    await until(() => sha256Of(inShare('out/good.wav')) !== firstOutput)
    expect(filesBelow(inShare('failed'))).toEqual(['bad.wav.json'])

    const ledger = await openSharedLedger(store().url)
    onTestFinished(() => ledger.close())
    expect(new Set((await ledger.jobs.list()).map(({ group }) => group))).toEqual(new Set(['nas:/in']))
  })
})
