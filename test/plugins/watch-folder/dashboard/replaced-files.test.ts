import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dashboardBench, folderView } from './dashboard-bench.js'

const bench = dashboardBench()

describe.skipIf(process.platform === 'win32')('files that somebody put in place of an output', () => {
  let folder: string
  let output: string
  let address: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-replaced-'))
    output = join(folder, 'out/reel/a.wav')
    await mkdir(join(folder, 'out/reel'), { recursive: true })
    await mkdir(join(folder, 'private'))
    await writeFile(output, 'the output')
    await writeFile(`${output}.voxmux.json`, 'the receipt')
    for (const name of ['a.wav', 'a.wav.voxmux.json']) await writeFile(join(folder, 'private', name), 'secret')
    bench.daemon.folders = [folderView(folder)]
    const { jobs } = bench.ledger
    const { job } = await jobs.enqueue({ key: 'a', group: folder, input: join(folder, 'reel/a.wav') })
    const claim = await jobs.claim('a')
    if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
    await jobs.checkpoint(claim.lease, { output })
    await jobs.complete(claim.lease, { status: 'done', receipt: `${output}.voxmux.json` })
    address = `${bench.dashboard.url}api/jobs/${job.id}`
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const ask = async (what: string) => {
    const response = await fetch(`${address}/${what}`)
    return [response.status, await response.text()] as const
  }

  it('are sent as long as nobody did', async () => {
    expect(await ask('output')).toEqual([200, 'the output'])
    expect(await ask('receipt')).toEqual([200, 'the receipt'])
  })

  it('are not followed to another file', async () => {
    for (const [what, path] of [
      ['output', output],
      ['receipt', `${output}.voxmux.json`],
    ] as const) {
      await rm(path)
      await symlink(join(folder, 'private/a.wav'), path)
      expect(await ask(what)).toEqual([404, expect.not.stringContaining('secret')])
    }
  })

  it('are not followed to another folder', async () => {
    await rename(join(folder, 'out/reel'), join(folder, 'out/moved'))
    await symlink(join(folder, 'private'), join(folder, 'out/reel'))
    for (const what of ['output', 'receipt', 'report', 'comparison'])
      expect(await ask(what)).toEqual([409, expect.stringContaining('through a symlink')])
  })

  it('block no thread if they are pipes', async () => {
    for (const path of [output, `${output}.voxmux.json`]) {
      await rm(path)
      execFileSync('mkfifo', [path])
    }
    const answers = Array.from({ length: 8 }, () => Promise.all([ask('output'), ask('receipt')]))
    for (const both of await Promise.all(answers)) expect(both.map(([status]) => status)).toEqual([404, 404])
  })
})

it('takes a fraction as the number of jobs on a page', async () => {
  expect((await fetch(`${bench.dashboard.url}api/jobs?list=done&limit=1.5`)).status).toBe(200)
})
