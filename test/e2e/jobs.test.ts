import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type JobStore, openLedger } from '../../src/ledger/index.js'
import { queuedState } from '../../src/pipeline/queue/queued-file.js'
import { commandInProcess } from '../helpers/command-in-process.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let shop: Workshop
let ledger: { readonly jobs: JobStore; close(): Promise<void> }

beforeEach(async () => {
  shop = openWorkshop()
  ledger = await openLedger(join(shop.dir, 'ledger.sqlite'))
})
afterEach(async () => {
  await ledger.close()
  shop.remove()
})

const jobs = (...args: readonly string[]) =>
  runCli(['jobs', ...args, '--ledger', 'ledger.sqlite', '--json'], { cwd: shop.dir, env: shop.env })

async function queued(input: string, group = 'in') {
  const { settings } = requestFor('/x.mov')
  const order = { input, output: '/out/', settings, group }
  const shown = input.split('?')[0] as string
  const request = { key: shown, group, input: shown, state: queuedState(order) }
  return (await ledger.jobs.enqueue(request)).job
}

async function end(key: string, status: 'done' | 'failed') {
  const claim = await ledger.jobs.claim(key)
  if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
  const error = { code: 'ERR_FILE_FAILED', errorCode: -3, name: 'NotEnoughVoice', message: 'No voice.', remedies: [] }
  if (status === 'done') await ledger.jobs.complete(claim.lease, { status })
  else await ledger.jobs.fail(claim.lease, { status, error: { ...error, code: 'ERR_FILE_FAILED' } })
}

it('lists by status and group, newest first, and says what is paused', async () => {
  await queued('/in/a.mov')
  await queued('/in/b.mov', 'other')
  await queued('/in/c.mov')
  await end('/in/c.mov', 'failed')
  await ledger.jobs.pause('other', 'lunch')
  await ledger.jobs.pause('/mistyped', 'offline: /mistyped is not there.')
  const all = await jobs('list')
  expect(all.exitCode).toBe(0)
  const inputs = (result: typeof all) =>
    eventsOf(result).flatMap(({ event, input }) => (event === 'job' ? [input] : []))
  expect(inputs(all)).toEqual(['/in/c.mov', '/in/b.mov', '/in/a.mov'])
  expect(all.stderr).toBe('other is paused: lunch\n')
  expect(inputs(await jobs('list', '--status', 'failed'))).toEqual(['/in/c.mov'])
  expect(inputs(await jobs('list', '--group', 'other'))).toEqual(['/in/b.mov'])
  expect(eventsOf(all).at(-1)).toMatchObject({ event: 'result', exitCode: 0 })
})

it('shows a job by its input, and no secret of an address', async () => {
  await queued('https://media.example/a.mov?sig=hush')
  const [found] = await ledger.jobs.list()
  const shown = await jobs('show', found?.id ?? '')
  expect(eventsOf(shown)[0]).toMatchObject({ event: 'job', input: 'https://media.example/a.mov', status: 'queued' })
  expect(shown.stdout + shown.stderr).not.toContain('hush')
})

it('retries what failed, and with --force what is done', async () => {
  const failed = await queued('/in/a.mov')
  await end('/in/a.mov', 'failed')
  const again = await commandInProcess(['jobs', 'retry', failed.id, '--ledger', 'ledger.sqlite'], {
    ...{ cwd: shop.dir, env: { ...shop.env } },
  })
  expect(again.stdout).toContain('→ It waits for a `voxmux worker` with the same ledger or store. Start one if none')
  expect(await ledger.jobs.get(failed.id)).toMatchObject({ status: 'queued', attempts: 0 })
  await end('/in/a.mov', 'done')
  expect(eventsOf(await jobs('retry', '/in/a.mov', '--force'))[0]).toMatchObject({ status: 'queued' })
  const forced = (await ledger.jobs.get(failed.id))?.state.order as { settings: { force: boolean } }
  expect(forced.settings.force).toBe(true)
})

it('retries what failed with the present settings of its watched folder', async () => {
  const failed = await queued('/in/a.mov', '/in')
  await end('/in/a.mov', 'failed')
  writeFileSync(
    join(shop.dir, 'ours.json'),
    JSON.stringify({ watch: { folders: [{ path: '/in', preset: 'podcast' }] } }),
  )
  expect((await jobs('retry', failed.id, '--config', 'ours.json')).exitCode).toBe(0)
  expect((await ledger.jobs.get(failed.id))?.state.order).toMatchObject({ settings: { preset: 'podcast' } })
})

it('says that a job which was not queued is run again', async () => {
  await ledger.jobs.enqueue({ key: 'run', group: 'run', input: '/in/a.mov' })
  for (const force of [[], ['--force']]) {
    const refused = await jobs('retry', '/in/a.mov', ...force)
    expect(refused.exitCode).toBe(2)
    expect(eventsOf(refused).at(-1)).toMatchObject({ error: { code: 'ERR_JOB_WITHOUT_ORDER' } })
  }
})

it('forgets a job, unless somebody works on it', async () => {
  const job = await queued('/in/a.mov')
  const claim = await ledger.jobs.claim(job.key)
  const held = await jobs('forget', job.id)
  expect(held.exitCode).toBe(4)
  expect(eventsOf(held).at(-1)).toMatchObject({ error: { code: 'ERR_JOB_HELD' } })
  if (claim.outcome === 'claimed') await ledger.jobs.release(claim.lease, { status: 'queued' })
  expect((await jobs('forget', job.id)).exitCode).toBe(0)
  expect(await ledger.jobs.get(job.id)).toBeNull()
})
