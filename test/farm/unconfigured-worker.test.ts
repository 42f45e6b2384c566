import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../helpers/fault-server.js'
import { tinyWave } from '../helpers/sound/tiny-wave.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { runCli, startCli } from '../helpers/voxmux-cli.js'
import { openWorkshop } from '../helpers/workshop.js'
import { filesBelow } from '../plugins/watch-folder/watch-bench.js'

/** A receiver of webhooks. */
async function receiver() {
  const received: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    received.push(JSON.parse(text))
    response.end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/after?token=s3cret` }
}

describeOnPostgres('a worker that knows nothing of the watched folder', (store) => {
  it('reports, moves and calls what the job names, and runs no command', { timeout: 240_000 }, async () => {
    const workshop = openWorkshop()
    const [server, hook] = [await FaultServer.start(), await receiver()]
    onTestFinished(async () => {
      workshop.remove()
      await server.close()
    })
    const on = (machine: string) => ({
      cwd: workshop.dir,
      env: { ...workshop.env, ...server.env, VOXMUX_STORE: store().url, VOXMUX_STATE_DIR: workshop.path(machine) },
    })
    const [inFolder, ran] = [(name: string) => workshop.path(`in/${name}`), workshop.path('ran')]
    mkdirSync(workshop.path('in'))
    const after = { webhook: hook.url, command: ['/usr/bin/touch', ran] }
    const folder = { path: workshop.path('in'), source: 'move', ...{ failed: workshop.path('reports'), after } }
    const config = workshop.path('ingest.json')
    const watch = { settleSec: 0.3, patienceSec: 1.5, scanSec: 0.3, folders: [folder] }
    writeFileSync(config, JSON.stringify({ watch }))
    const daemon = startCli(['watch', '--ingest-only', '--config', config, '--json'], on('ingest'))
    const worker = startCli(['worker', '--json'], on('worker'))
    onTestFinished(async () => {
      for (const { child } of [daemon, worker]) child.kill('SIGKILL')
      await Promise.all([daemon.ended, worker.ended])
    })
    await Promise.all([daemon.until(/"event":"watching"/), worker.until(/"event":"working"/)])
    writeFileSync(inFolder('good.wav'), tinyWave(1))
    writeFileSync(inFolder('bad.wav'), 'no sound')
    await until(() => hook.received.length === 2)
    const report = workshop.path('reports/bad.wav.json')
    await until(() => existsSync(report) && existsSync(inFolder('done/good.wav')))
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ source: inFolder('bad.wav'), status: 'rejected' })
    expect(filesBelow(inFolder('out'))).toEqual(['good.wav', 'good.wav.voxmux.json'])
    expect(hook.received.map(({ status, source, output }) => [status, source, output])).toEqual(
      expect.arrayContaining([
        ['done', inFolder('done/good.wav'), inFolder('out/good.wav')],
        ['rejected', inFolder('bad.wav'), null],
      ]),
    )
    expect(existsSync(ran)).toBe(false)
    expect(worker.said()).toContain('does not run here')
    // The address is in the job, and its secret is not shown.
    const shown = await runCli(['jobs', 'list', '--json'], on('looking'))
    expect([shown.stdout.includes('/after'), shown.stdout.includes('s3cret')]).toEqual([true, false])
  })
})
