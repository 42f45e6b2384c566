import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger, openSharedLedger } from '../../src/ledger/index.js'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { openWorkshop } from '../helpers/workshop.js'
import { claimed, enqueueAll, report, request } from '../ledger/store-fixture.js'

describeOnPostgres('voxmux jobs export and import', (server) => {
  it('move a ledger from SQLite to PostgreSQL and back, and add nothing twice', async () => {
    const workshop = openWorkshop()
    const file = join(workshop.dir, 'ledger.sqlite')
    const from = await openLedger(file)
    const to = await openSharedLedger(server().url)
    onTestFinished(async () => {
      await to.close()
      workshop.remove()
    })
    const voxmux = async (...words: string[]) => {
      const place = { cwd: workshop.dir, env: workshop.env }
      const { exitCode, stdout } = await runCliInProcess(['jobs', ...words, '--json'], place)
      return { exitCode, ...JSON.parse(stdout.trim().split('\n')[0] ?? '') }
    }
    const requests = Array.from({ length: 450 }, (_, n) => request(`k${n}`, { group: `g${n % 3}`, priority: n % 2 }))
    await enqueueAll(from.jobs, requests)
    await from.jobs.fail((await claimed(from.jobs, 'k7')).lease, { status: 'failed', error: report })
    await from.jobs.pause('g2', 'offline')
    const voice = await from.voices.claim('v')
    if (voice.outcome !== 'claimed') throw new Error('held')
    await from.voices.advance(voice.lease, { status: 'registering' })
    await from.voices.advance(voice.lease, { status: 'registered', fileId: 'f' })
    await from.voices.advance(voice.lease, { status: 'starting', paidSec: 12.5 })
    await from.voices.release(voice.lease)
    await from.spending.reserve('f', 12.5, { maxSecondsPerDay: null })
    const limit = { service: 's', errorCode: -15, property: 'durationSec', relation: 'at-least', value: 7200 } as const
    await from.limits.learn(limit)

    const held = await claimed(from.jobs, 'k8')
    expect(await voxmux('export', 'a.ndjson', '--ledger', file)).toMatchObject({
      ...{ exitCode: 4, event: 'result', error: { code: 'ERR_JOB_HELD' } },
    })
    await from.jobs.release(held.lease, { status: 'queued' })
    expect(await voxmux('export', 'a.ndjson', '--ledger', file)).toMatchObject({ exitCode: 0, event: 'exported' })
    expect(statSync(join(workshop.dir, 'a.ndjson')).mode & 0o777).toBe(0o600)
    expect(await voxmux('export', 'a.ndjson', '--ledger', file)).toMatchObject({
      ...{ exitCode: 2, error: { code: 'ERR_OUTPUT_EXISTS' } },
    })
    const store = ['--store', server().url]
    expect(await voxmux('import', 'a.ndjson', ...store)).toMatchObject({ exitCode: 0, event: 'imported', count: 455 })
    expect(await voxmux('import', 'a.ndjson', ...store)).toMatchObject({ exitCode: 0, count: 0 })

    const all = { limit: 1000 }
    expect(await to.jobs.list(all)).toEqual(await from.jobs.list(all))
    expect(await to.jobs.pauses()).toEqual(await from.jobs.pauses())
    const [moved] = await to.voices.allByFileId('f')
    expect(moved).toMatchObject({ key: 'v', status: 'starting' })
    expect(moved).toEqual((await from.voices.allByFileId('f'))[0])
    expect((await to.spending.reserved()).map(({ id }) => id)).toEqual(['f'])
    expect(await to.limits.matching('s', { durationSec: 9000 })).toEqual([limit])
    await from.close()
    expect((await to.jobs.claimNext())?.job.key).toBe('k1')

    const back = join(workshop.dir, 'back.sqlite')
    await to.jobs.release((await claimed(to.jobs, 'k3')).lease, { status: 'queued' })
    writeFileSync(join(workshop.dir, 'other.ndjson'), '{"table":"holders","row":{"id":1}}\n')
    expect((await voxmux('import', 'other.ndjson', '--ledger', back)).exitCode).toBe(2)
    expect(await voxmux('import', 'a.ndjson', '--ledger', back)).toMatchObject({ count: 455 })
    expect(await voxmux('export', 'b.ndjson', '--ledger', back)).toMatchObject({ count: 455 })
    const text = (name: string) => readFileSync(join(workshop.dir, name), 'utf8')
    expect(text('b.ndjson')).toBe(text('a.ndjson'))
  })
})
