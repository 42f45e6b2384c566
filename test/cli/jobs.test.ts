import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger, openSharedLedger } from '../../src/ledger/index.js'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { openWorkshop } from '../helpers/workshop.js'
import { claimed, enqueueAll, report, request } from '../ledger/store-fixture.js'

const DAY_MS = 24 * 3600 * 1000

/** A workshop whose jobs are in an SQLite file, until the test ends. */
async function openJobs() {
  const workshop = openWorkshop()
  const file = join(workshop.dir, 'ledger.sqlite')
  const { jobs, close } = await openLedger(file)
  onTestFinished(async () => {
    await close()
    workshop.remove()
  })
  return { workshop, file, jobs }
}

describeOnPostgres('voxmux jobs forget --ended-days', (server) => {
  it.each(['SQLite', 'PostgreSQL'])('(%s) forgets what ended so long ago, and nothing else', async (kind) => {
    const workshop = openWorkshop()
    const file = join(workshop.dir, 'ledger.sqlite')
    let nowMs = Date.now() - 10 * DAY_MS
    const now = () => nowMs
    const { jobs, close } = await (kind === 'SQLite'
      ? openLedger(file, { now })
      : openSharedLedger(server().url, { now }))
    onTestFinished(async () => {
      await close()
      workshop.remove()
    })
    await enqueueAll(
      jobs,
      ['done', 'failed', 'waits', 'done lately'].map((key) => request(key)),
    )
    await jobs.complete((await claimed(jobs, 'done')).lease, { status: 'done' })
    await jobs.fail((await claimed(jobs, 'failed')).lease, { status: 'failed', error: report })
    nowMs += 9 * DAY_MS
    await jobs.complete((await claimed(jobs, 'done lately')).lease, { status: 'done' })

    const store = kind === 'SQLite' ? ['--ledger', file] : ['--store', server().url]
    const forget = (days: string, ...more: string[]) =>
      runCliInProcess(['jobs', 'forget', '--ended-days', days, ...store, ...more], {
        cwd: workshop.dir,
        env: workshop.env,
      })
    const forgotten = await forget('3', '--json')
    expect(forgotten).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"count":2') })
    expect((await jobs.list()).map(({ key }) => key).sort()).toEqual(['done lately', 'waits'])
    expect((await forget('3', '--json')).stdout).toContain('"count":0')
    expect((await forget('0.5')).stdout).toBe('Forgotten: 1 job\n')
    expect((await jobs.list()).map(({ key }) => key)).toEqual(['waits'])
  })
})

it('lists any number of jobs, newest first, under one heading', async () => {
  const { workshop, file, jobs } = await openJobs()
  await enqueueAll(
    jobs,
    Array.from({ length: 1203 }, (_, n) => request(`k${n}`, { input: `/in/${n}.wav` })),
  )
  const list = async (...args: string[]) => {
    const { stdout } = await runCliInProcess(['jobs', 'list', '--ledger', file, ...args], {
      cwd: workshop.dir,
      env: workshop.env,
    })
    return stdout.trimEnd().split('\n')
  }
  const [heading, ...rows] = await list('--limit', '200000')
  expect(heading).toMatch(/^job +status +age +file$/)
  const found = (await jobs.list({ limit: 2000 })).map(({ id, input }) => `${id} ${input}`)
  expect(found).toHaveLength(1203)
  expect(rows.map((row) => row.replace(/ .* /, ' '))).toEqual(found)
  expect(await list('--limit', '501')).toHaveLength(502)
  expect(await list('--limit', '500', '--status', 'queued')).toHaveLength(501)
})

it('lists the jobs of every state that is named, and says if there are more than the limit', async () => {
  const { workshop, file, jobs } = await openJobs()
  await enqueueAll(
    jobs,
    ['failed', 'rejected', 'waits'].map((key) => request(key, { input: `/in/${key}.wav` })),
  )
  for (const status of ['failed', 'rejected'] as const)
    await jobs.fail((await claimed(jobs, status)).lease, { status, error: report })
  const list = (...args: string[]) =>
    runCliInProcess(['jobs', 'list', '--ledger', file, ...args], { cwd: workshop.dir, env: workshop.env })
  const inputs = (stdout: string) => [...stdout.matchAll(/\/in\/(\w+)\.wav/g)].map(([, name]) => name)

  const both = await list('--status', 'failed', '--status', 'rejected')
  expect(inputs(both.stdout).sort()).toEqual(['failed', 'rejected'])
  expect(both.stderr).toBe('')
  expect(inputs((await list('--status', 'failed')).stdout)).toEqual(['failed'])
  expect((await list('--status', 'broken')).stderr).toContain('--status takes queued, working')
  expect((await list('--limit', '2')).stderr).toContain('These are the newest 2. To see more, use --limit.')
  expect((await list('--limit', '3')).stderr).toBe('')
})

it('refuses numbers that would list nothing, or forget everything', async () => {
  const { workshop, file, jobs } = await openJobs()
  await enqueueAll(jobs, [request('done')])
  await jobs.complete((await claimed(jobs, 'done')).lease, { status: 'done' })
  const run = (...args: string[]) =>
    runCliInProcess(['jobs', ...args, '--ledger', file], { cwd: workshop.dir, env: workshop.env })
  for (const days of ['-1', 'NaN']) expect(await run('forget', '--ended-days', days)).toMatchObject({ exitCode: 2 })
  expect((await run('forget', '--ended-days', '-1')).stderr).toContain('--ended-days takes 0 or more, not -1.')
  for (const limit of ['0', '-3', '2.5'])
    expect((await run('list', '--limit', limit)).stderr).toContain(`--limit takes a whole number from 1, not ${limit}.`)
  expect(await jobs.list()).toHaveLength(1)
})

it('lists the files of a pipe as stdin and stdout, which are gone', async () => {
  const { workshop, file, jobs } = await openJobs()
  const folder = join(workshop.dir, 'state', 'pipes', 'host-12-aBc3')
  await enqueueAll(jobs, [request('piped', { input: join(folder, 'stdin'), output: join(folder, 'stdout.wav') })])
  const error = { ...report, message: `${join(folder, 'stdin')} cannot be read.` }
  await jobs.fail((await claimed(jobs, 'piped')).lease, { status: 'failed', error })
  const [job] = await jobs.list()
  const run = (...args: string[]) =>
    runCliInProcess(['jobs', ...args, '--ledger', file], { cwd: workshop.dir, env: workshop.env })
  const listed = await run('list')
  expect(listed.stdout).toMatch(/ stdin\n +✖ stdin cannot be read\.\n$/)
  const shown = await run('show', job?.id ?? '')
  expect(shown.stdout).toMatch(/input +stdin\noutput +stdout\.wav\n/)
  expect(listed.stdout + shown.stdout).not.toContain('pipes')
})
