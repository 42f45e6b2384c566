import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../../../plugins/watch-folder/metrics/metrics.js'
import { openOperatorSide } from '../../../../plugins/watch-folder/open-operator-side.js'
import { silentLogger } from '../../../../src/core/logger.js'
import { openSharedLedger } from '../../../../src/ledger/index.js'
import { describeOnPostgres } from '../../../helpers/system/postgres-server.js'
import { until } from '../../../helpers/until.js'
import { request } from '../../../ledger/store-fixture.js'
import { folderView, StagedDaemon } from './dashboard-bench.js'

const AWAY = 'The job store does not respond.'

/** The overview that an open page is shown, as it changes. */
async function shownAt(url: string) {
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  const { body } = await fetch(`${url}events`, { signal: closing.signal })
  const shown: { pauses: { reason: string }[]; counts: object[] }[] = []
  const read = async () => {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? [])
      for (const [, data] of text.matchAll(/^event: (?:snapshot|overview)\ndata: (.*)$/gm))
        shown.push(JSON.parse(String(data)))
  }
  read().catch(() => {})
  return shown
}

describeOnPostgres('a daemon whose store is away', (server) => {
  it('answers whoever looks at it, says so, and is as before when the store is back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'voxmux-away-'))
    const { jobs, spending, close } = await openSharedLedger(server().url)
    const daemon = new StagedDaemon()
    daemon.folders = [folderView(folder)]
    const said: string[] = []
    const side = await openOperatorSide({
      ...{ daemon: Object.assign(daemon, { wake() {} }), jobs, spending, sourcesOf: () => [], metrics: new Metrics() },
      ...{ dashboard: { port: 0 }, stateDir: folder, version: '1.2.3', env: {} },
      logger: { ...silentLogger, warn: (_, message) => said.push(message) },
    })
    onTestFinished(async () => {
      await side.close()
      await close()
      await rm(folder, { recursive: true, force: true })
    })
    await side.ready()
    await jobs.enqueue(request('k', { group: folder }))
    const asked = async (path: string) => {
      const answer = await fetch(`${side.url}${path}`)
      return { status: answer.status, text: await answer.text() }
    }
    const shown = await shownAt(side.url ?? '')
    const counts = [{ group: folder, status: 'queued', count: 1 }]
    await until(async () => shown.length > 0)
    expect(shown.at(-1)).toMatchObject({ pauses: [], counts })

    await server().kill()
    const [metrics, readiness, list] = await Promise.all(['metrics', 'readyz', 'api/jobs?list=live'].map(asked))
    expect(metrics?.status).toBe(200)
    expect(metrics?.text).toContain('voxmux_pauses 1\n')
    expect(metrics?.text).toContain('voxmux_build_info')
    expect(metrics?.text).not.toMatch(/^voxmux_(jobs|queue_depth)\{/m)
    expect(readiness?.status).toBe(503)
    expect(JSON.parse(readiness?.text ?? '').checks).toMatchObject([
      { check: 'daemon', ok: true },
      { check: 'job store', ok: false, detail: AWAY },
      { check: 'intake', ok: false, detail: `paused: ${AWAY}` },
      { ok: true },
    ])
    expect([list?.status, list?.text]).toEqual([503, expect.stringContaining(AWAY)])
    await until(async () => shown.at(-1)?.pauses.length === 1)
    expect(shown.at(-1)).toMatchObject({ pauses: [{ group: null, reason: AWAY }], counts })
    expect(said.filter((message) => message.includes('could not ask the store'))).toHaveLength(1)

    await server().start()
    await until(async () => (await asked('readyz')).status === 200)
    expect((await asked('metrics')).text).toMatch(/^voxmux_jobs\{.*status="queued"\} 1$/m)
    await until(async () => shown.at(-1)?.pauses.length === 0)
  })
})
