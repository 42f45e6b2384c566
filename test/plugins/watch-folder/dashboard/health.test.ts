import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../../../plugins/watch-folder/metrics/metrics.js'
import { type OperatorSide, openOperatorSide } from '../../../../plugins/watch-folder/open-operator-side.js'
import { silentLogger } from '../../../../src/core/logger.js'
import { type Ledger, openLedger } from '../../../../src/ledger/index.js'
import { queuedRecordOf, queuedState } from '../../../../src/pipeline/queue/queued-file.js'
import { NO_MOUNTS } from '../../../helpers/system/mount-space.js'
import { requestFor } from '../../../helpers/test-pipeline.js'
import { until } from '../../../helpers/until.js'
import { folderView, StagedDaemon } from './dashboard-bench.js'

let folder: string
let ledger: Ledger
let daemon: StagedDaemon
let side: OperatorSide

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-health-'))
  ledger = await openLedger(join(folder, 'ledger.sqlite'))
  daemon = new StagedDaemon()
  side = await openOperatorSide({
    ...{ daemon: Object.assign(daemon, { wake() {} }), jobs: ledger.jobs, spending: ledger.spending },
    ...{ sourcesOf: () => [], metrics: new Metrics() },
    ...{ dashboard: { port: 0 }, stateDir: folder, version: '1.2.3', env: {}, logger: silentLogger },
  })
})
afterEach(async () => {
  await side.close()
  await ledger.close()
  await rm(folder, { recursive: true, force: true })
})

/** Status of the answer, and the checks that are not fulfilled. */
async function readiness() {
  const response = await fetch(`${side.url}readyz`)
  const { status, checks } = (await response.json()) as {
    status: string
    checks: readonly { check: string; ok: boolean; detail: string }[]
  }
  expect(status).toBe(response.status === 200 ? 'ready' : 'not ready')
  return [response.status, ...checks.filter(({ ok }) => !ok).map(({ check, detail }) => `${check}: ${detail}`)]
}

const watched = async (name: string, more = {}) => {
  await mkdir(join(folder, name), { recursive: true })
  return folderView(join(folder, name), more)
}

describe('/readyz', () => {
  it('answers 503 until the folders are watched, 200 then, and 503 again when the daemon stops', async () => {
    expect(await readiness()).toEqual([503, 'daemon: starting: the folders are not watched yet'])
    daemon.folders = [await watched('in')]
    await side.ready()
    expect(await readiness()).toEqual([200])
    await side.reloading()
    expect(await readiness()).toEqual([200])
    await side.stopping()
    expect(await readiness()).toEqual([503, 'daemon: stopping: nothing more is taken'])
  })

  it('answers 503 while a folder is offline, or cannot be read', async () => {
    const [there, gone, away] = [await watched('in'), await watched('gone'), await watched('away')]
    daemon.folders = [there, { ...away, state: 'offline', reason: 'Is the share mounted?' }, gone]
    await rm(gone.path, { recursive: true })
    await side.ready()
    expect(await readiness()).toEqual([
      503,
      `${away.path}: Is the share mounted?`,
      expect.stringMatching(`^${gone.path}: ENOENT`),
    ])
  })

  it.skipIf(NO_MOUNTS)('answers 503 while the disk of the outputs is full (needs mounts of its own)', async () => {
    const out = join(folder, 'out')
    await mkdir(out)
    const command = 'mount -t tmpfs -o size=1m full "$0" && touch "$0/.ready" && exec sleep infinity'
    const disk = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', command, out])
    onTestFinished(() => void disk.kill('SIGKILL'))
    const small = `/proc/${disk.pid}/root${out}`
    await until(() => existsSync(join(small, '.ready')))
    const view = await watched('in', { out: small })
    daemon.folders = [view]
    await side.ready()
    expect(await readiness()).toEqual([
      503,
      expect.stringMatching(`^${view.path}: Not enough space in ${small}: 34 MB`),
    ])
    daemon.folders = [{ ...view, out: join(folder, 'none yet') }]
    expect(await readiness()).toEqual([200])
  })

  it('answers 503 while the intake is paused, of all or of a folder of its own', async () => {
    daemon.folders = [await watched('in', { group: 'own' })]
    await side.ready()
    await ledger.jobs.pause('another daemon’s', 'offline: not ours')
    expect(await readiness()).toEqual([200])
    await ledger.jobs.pause('own', 'offline: ours')
    expect(await readiness()).toEqual([503, 'intake: paused: offline: ours'])
    await ledger.jobs.resume('own')
    await ledger.jobs.pause(null, 'The account has no credits left (-10).')
    expect(await readiness()).toEqual([503, 'intake: paused: The account has no credits left (-10).'])
  })

  it('answers 503 where the job store does not', async () => {
    daemon.folders = [await watched('in')]
    await side.ready()
    await ledger.jobs.close()
    expect((await readiness())[0]).toBe(503)
    ledger = await openLedger(join(folder, 'ledger.sqlite'))
  })

  it('is not asked for life: /healthz answers 200 in all of these', async () => {
    await side.stopping()
    expect((await fetch(`${side.url}healthz`)).status).toBe(200)
  })
})

it('tries a job that failed again with the present settings of its folder', async () => {
  const { settings } = requestFor('/in/a.wav')
  const order = { input: '/in/a.wav', output: '/in/out/', settings: { ...settings, preset: 'old' }, group: '/in' }
  const request = { key: 'a', group: '/in', input: '/in/a.wav', state: queuedState(order) }
  const { job } = await ledger.jobs.enqueue(request)
  const claim = await ledger.jobs.claim('a')
  if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
  const error = { code: 'ERR_CHANNELS' as const, errorCode: -4, name: null, message: 'Six channels.', remedies: [] }
  await ledger.jobs.fail(claim.lease, { status: 'rejected', error })
  daemon.settings.set('/in', { ...settings, preset: 'dialogue-5.1-center' })

  const page = await (await fetch(side.url ?? '')).text()
  const token = /name="voxmux-token" content="([^"]+)"/.exec(page)?.[1] ?? ''
  const headers = { origin: (side.url ?? '').slice(0, -1), 'x-voxmux-token': token }
  const answer = await fetch(`${side.url}api/jobs/${job.id}/retry`, { method: 'POST', headers })
  expect(answer.status).toBe(200)
  const again = await ledger.jobs.get(job.id)
  expect(again?.status).toBe('queued')
  expect(again && queuedRecordOf(again)?.settings).toMatchObject({ preset: 'dialogue-5.1-center', force: false })
})

it('a crowd of pages that follow takes no answer from the others', async () => {
  const crowd = new AbortController()
  const follow = () => fetch(`${side.url}events`, { signal: crowd.signal })
  // More in all than the server has connections for. An answer that nobody holds would be closed.
  const answers: Response[] = []
  for (let group = 0; group < 6; group++) answers.push(...(await Promise.all(Array.from({ length: 50 }, follow))))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(answers.length - refused.length).toBe(32)
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
  expect((await fetch(`${side.url}healthz`)).status).toBe(200)
  crowd.abort()
})
