import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../helpers/fault-server.js'
import { tinyWave } from '../helpers/sound/tiny-wave.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { startCli } from '../helpers/voxmux-cli.js'
import { startWatch } from '../helpers/watch-cli.js'
import { openWorkshop } from '../helpers/workshop.js'

interface Shown {
  readonly input: string
  readonly status: string
  readonly holder: { readonly pid: number } | null
}

describeOnPostgres('two daemons and two workers on one store', (store) => {
  it('are shown whole by the dashboard and the metrics of each daemon', { timeout: 240_000 }, async () => {
    const workshop = openWorkshop()
    let isHeldUp = true
    const server = await FaultServer.start({
      states: () => [{ status: isHeldUp ? 'InProgress' : 'Succeeded', errorCode: 0, progress: 50 }],
    })
    onTestFinished(async () => {
      workshop.remove()
      await server.close()
    })
    const on = (machine: string) => ({
      cwd: workshop.dir,
      env: { ...workshop.env, ...server.env, VOXMUX_STORE: store().url, VOXMUX_STATE_DIR: workshop.path(machine) },
    })
    const folders = ['one', 'two'].map((name) => workshop.path(name))
    const daemons = await Promise.all(
      folders.map((folder) => {
        mkdirSync(folder)
        const args = [folder, '--ingest-only', '--port', '0', '--settle', '0.2', '--scan', '0.3']
        return startWatch(args, on(`ingest of ${folder.slice(-3)}`))
      }),
    )
    const workers = ['a', 'b'].map((name) => startCli(['worker', '--concurrency', '1', '--json'], on(`worker ${name}`)))
    onTestFinished(async () => {
      for (const { child } of [...daemons, ...workers]) child.kill('SIGKILL')
      await Promise.all(workers.map(({ ended }) => ended))
    })
    const inputs = folders.map((folder) => join(folder, 'take.wav'))
    for (const [index, input] of inputs.entries()) writeFileSync(input, tinyWave(index))
    const listed = async (url: string, list: string) =>
      ((await (await fetch(`${url}api/jobs?all=1&list=${list}`)).json()) as { jobs: Shown[] }).jobs
    const counted = async (url: string, status: string) => {
      const metrics = await (await fetch(`${url}metrics`)).text()
      return folders.map((folder) => metrics.includes(`voxmux_jobs{folder="${folder}",status="${status}"} 1`))
    }

    for (const { url } of daemons) {
      await until(async () => (await listed(url, 'live')).length === 2)
      const live = await listed(url, 'live')
      expect(live.map(({ input }) => input).sort()).toEqual(inputs)
      expect(new Set(live.map(({ holder }) => holder?.pid))).toEqual(new Set(workers.map(({ child }) => child.pid)))
      expect(await counted(url, 'working')).toEqual([true, true])
    }
    isHeldUp = false
    for (const { url } of daemons) {
      await until(async () => (await listed(url, 'done')).length === 2)
      expect((await listed(url, 'done')).map(({ input, holder }) => ({ input, holder }))).toEqual(
        expect.arrayContaining(inputs.map((input) => ({ input, holder: null }))),
      )
      expect(await counted(url, 'done')).toEqual([true, true])
    }
  })
})
