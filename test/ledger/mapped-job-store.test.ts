import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.js'
import { type JobStore, mappedJobStore, openLedger, type PathRoot, PathRoots } from '../../src/ledger/index.js'
import { describeJobStore } from './contracts/job-store-contract.js'
import { sharedLedger } from './store-fixture.js'
import { tempFolder } from './temp-folder.js'

/** Machines over one ledger: their stores, what they said, and how far their clock is. */
async function machines() {
  const ledger = await openLedger(join(tempFolder(), 'ledger.db'))
  onTestFinished(() => ledger.close())
  let nowMs = Date.now()
  const said: string[] = []
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => said.push(message) }
  const machine = (...roots: PathRoot[]): JobStore =>
    mappedJobStore(ledger.jobs, new PathRoots(roots), { logger, now: () => nowMs })
  const share = (name: string) => {
    const path = join(tempFolder(), name)
    mkdirSync(path)
    writeFileSync(join(path, 'clip.mov'), 'clip')
    return path
  }
  return { store: ledger.jobs, machine, share, said, later: (ms: number) => (nowMs += ms) }
}

const order = (output: string) => ({ state: { order: { output } } })

it('gives each machine a job with the paths that it has, and the store none of them', async () => {
  const { machine, store, share } = await machines()
  const [mount, drive] = [share('mnt'), share('drive')]
  const one = machine({ store: 'nas:', here: mount })
  const other = machine({ store: 'nas:', here: drive })
  const request = { key: 'k', group: mount, input: join(mount, 'clip.mov'), ...order(join(mount, 'out/')) }
  expect((await one.enqueue(request)).job).toMatchObject({ group: mount, input: join(mount, 'clip.mov') })
  expect(JSON.stringify(await store.getByKey('k'))).not.toContain(mount)
  expect(await store.getByKey('k')).toMatchObject({ group: 'nas:', input: 'nas:/clip.mov' })
  const claim = await other.claimNext({ groups: [drive] })
  expect(claim?.job).toMatchObject({ input: join(drive, 'clip.mov'), ...order(join(drive, 'out/')) })
  if (!claim) throw new Error('nothing')
  await other.checkpoint(claim.lease, { output: join(drive, 'out/clip.regen.mov') })
  await other.complete(claim.lease, { status: 'done', receipt: join(drive, 'out/clip.regen.mov.voxmux.json') })
  expect(await one.list({ group: mount, input: join(mount, 'clip.mov') })).toMatchObject([
    { output: join(mount, 'out/clip.regen.mov'), receipt: join(mount, 'out/clip.regen.mov.voxmux.json') },
  ])
  expect(await other.counts()).toEqual([{ group: drive, status: 'done', count: 1 }])
})

it('leaves a job to another where a machine lacks its folder: said once, no attempt counted, no hot loop', async () => {
  const { machine, store, share, said, later } = await machines()
  const mount = share('mnt')
  const one = machine({ store: 'nas:', here: mount })
  const unmounted = join(tempFolder(), 'empty')
  mkdirSync(unmounted)
  const lacking = [machine(), machine({ store: 'nas:', here: unmounted })]
  for (const key of ['a', 'b', 'c'])
    await one.enqueue({ key, group: 'in', input: join(mount, `${key}.mov`), ...order('/') })
  await one.enqueue({ key: 'here', group: 'local', input: '/local/d.mov' })
  for (const worker of lacking) {
    const claim = await worker.claimNext()
    expect(claim?.job.key).toBe('here')
    if (claim) await worker.release(claim.lease, { status: 'queued' })
    expect((await worker.claimNext({ groups: ['in'] }))?.job.key).toBeUndefined()
    later(60_000)
    expect(await worker.claimNext({ groups: ['in'] })).toBeNull()
  }
  expect(said).toEqual([
    'This machine has no path for nas: (see `paths` in the configuration), so it leaves jobs there to other workers.',
    `This machine has nothing at ${unmounted}, so it leaves jobs there to other workers.`,
  ])
  expect(await store.list({ group: 'in' })).toMatchObject(
    ['c', 'b', 'a'].map((key) => ({ key, attempts: 0, holder: null })),
  )
  expect((await one.claimNext({ groups: ['in'] }))?.job).toMatchObject({ key: 'a', attempts: 1 })
  // A share that came back is worked on after a while.
  rmSync(unmounted, { recursive: true })
  mkdirSync(unmounted)
  writeFileSync(join(unmounted, 'b.mov'), 'b')
  later(60_000)
  expect((await lacking[1]?.claimNext({ groups: ['in'] }))?.job.input).toBe(join(unmounted, 'b.mov'))
})

describeJobStore('with mapped paths', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const roots = new PathRoots([])
  const shared = await sharedLedger('jobs', (now) => openLedger(file, { now }))
  const mapped = (store: JobStore) => mappedJobStore(store, roots, { logger: silentLogger, now: shared.now })
  return { ...shared, one: mapped(shared.one), other: mapped(shared.other) }
})
