import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../src/ledger/index.js'
import { kill9, startScript } from './run-script.js'
import { enqueueAll, request } from './store-fixture.js'
import { tempFolder } from './temp-folder.js'

async function opened(file: string) {
  const ledger = await openLedger(file)
  onTestFinished(() => ledger.close())
  return ledger
}

/** Opens the ledger, waits for a word, does `code` with `ledger`, prints its answer as JSON and stays alive. */
const worker = (file: string, code: string) =>
  startScript(`
    import { openLedger } from 'src/ledger/index.js'
    const ledger = await openLedger(${JSON.stringify(file)})
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
    process.stdin.once('data', async () => say(await (async () => { ${code} })()))
    say('ready')
    setInterval(() => {}, 1000)
  `)

async function race(file: string, count: number, code: string) {
  const workers = Array.from({ length: count }, () => worker(file, code))
  for (const { line } of workers) expect(await line()).toBe('ready')
  for (const { child } of workers) child.stdin?.write('go\n')
  const answers = await Promise.all(workers.map(({ line }) => line()))
  return { workers, answers }
}

it('lets exactly one of several processes have a job, and the next at once when that one is killed', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const { jobs } = await opened(file)
  await jobs.enqueue(request('k'))
  const { workers, answers } = await race(file, 4, `return (await ledger.jobs.claim('k')).outcome`)
  expect([...answers].sort()).toEqual(['claimed', 'held', 'held', 'held'])
  expect(await jobs.claimNext()).toBeNull()

  const winner = workers[answers.indexOf('claimed')]
  if (!winner) throw new Error('nobody won')
  await kill9(winner.child)
  // No time has passed on the lease: it is free because its holder is dead.
  expect(await jobs.claim('k')).toMatchObject({ outcome: 'claimed', job: { attempts: 2 } })
})

it('makes the schema once when several processes open a new ledger at the same moment', async () => {
  const folder = tempFolder()
  const open = `
    const { openLedger: open } = await import('src/ledger/index.js')
    const files = Array.from({ length: 40 }, (_, n) => ${JSON.stringify(folder)} + '/' + n + '/ledger.db')
    let jobs = 0
    for (const file of files) jobs += (await (await open(file)).jobs.list()).length
    return jobs`
  const { answers } = await race(join(tempFolder(), 'other.db'), 4, open)
  expect(answers).toEqual([0, 0, 0, 0])
})

it('hands many jobs to many processes, each once', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const { jobs } = await opened(file)
  const keys = Array.from({ length: 120 }, (_, n) => `k${n}`)
  await enqueueAll(
    jobs,
    keys.map((key, n) => request(key, { group: `g${n % 5}` })),
  )
  const { answers } = await race(
    file,
    3,
    `const mine = []
     for (let next; (next = await ledger.jobs.claimNext()); ) {
       mine.push(next.job.key)
       await ledger.jobs.complete(next.lease, { status: 'done' })
     }
     return mine`,
  )
  expect((answers as string[][]).flat().sort()).toEqual(keys.sort())
  expect(await jobs.counts()).toEqual(expect.arrayContaining([{ group: 'g0', status: 'done', count: 24 }]))
})

it('loses nothing that was written when a process is killed between two steps', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const { jobs, voices } = await opened(file)
  await jobs.enqueue(request('k'))
  const { line, child } = worker(
    file,
    `const { lease } = await ledger.jobs.claim('k')
     await ledger.jobs.checkpoint(lease, { status: 'waiting-remote', publishedSha256: 'beef', state: { part: '/x' } })
     const voice = await ledger.voices.claim('v')
     await ledger.voices.advance(voice.lease, { status: 'registering' })
     await ledger.voices.advance(voice.lease, { status: 'registered', fileId: 'f1' })
     await ledger.voices.advance(voice.lease, { status: 'uploaded' })
     await ledger.voices.advance(voice.lease, { status: 'starting', paidSec: 12.5 })
     return 'started'`,
  )
  expect(await line()).toBe('ready')
  child.stdin?.write('go\n')
  expect(await line()).toBe('started')
  expect(await voices.claim('v')).toMatchObject({ outcome: 'held' })
  await kill9(child)

  expect(await jobs.claimNext()).toMatchObject({
    job: { publishedSha256: 'beef', state: { part: '/x' }, attempts: 2, status: 'working' },
  })
  // The intent is there with its file id: the next process asks about that id before it starts anything.
  expect(await voices.claim('v')).toMatchObject({
    outcome: 'claimed',
    voice: { status: 'starting', fileId: 'f1', paidSec: 0 },
  })
})

it('lets a stopped process find out that it was replaced', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const { jobs } = await opened(file)
  await jobs.enqueue(request('k'))
  const { line, child } = worker(
    file,
    `const { lease } = await ledger.jobs.claim('k')
     say('claimed')
     await new Promise((resolve) => process.stdin.once('data', resolve))
     return ledger.jobs.checkpoint(lease, { state: { late: true } }).catch((error) => error.code)`,
  )
  expect(await line()).toBe('ready')
  child.stdin?.write('go\n')
  expect(await line()).toBe('claimed')
  child.kill('SIGSTOP')
  const later = await openLedger(file, { now: () => Date.now() + 3_600_000 })
  onTestFinished(() => later.close())
  expect(await later.jobs.claim('k')).toMatchObject({ outcome: 'claimed' })
  child.kill('SIGCONT')
  child.stdin?.write('go on\n')
  expect(await line()).toBe('ERR_LEASE_LOST')
  expect((await jobs.getByKey('k'))?.state).toEqual({})
})
