import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { openLedger } from '../../../src/ledger/index.js'
import { thisHolder } from '../../../src/ledger/leases/holder.js'
import { openWorkbench } from '../../../src/pipeline/job/workbench.js'
import { partPath } from '../../../src/pipeline/output/part-file.js'
import { clearStale, makeWorkFolder } from '../../../src/pipeline/output/work-folder.js'
import { jobBench } from '../../helpers/job-bench.js'

const bench = jobBench()

it('clears what the killed process of another job left, and nothing of a job that runs', async () => {
  const { context } = bench.pipeline
  const output = bench.folder.file('out/next.wav')
  await mkdir(bench.folder.file('out'))
  const claimed = async (key: string, pid: number) => {
    const ledger = await openLedger(bench.folder.file('state/ledger.sqlite'), { holder: { ...thisHolder(), pid } })
    const { job } = await ledger.jobs.enqueue({ key, group: 'run', input: `/${key}.wav` })
    await ledger.jobs.claim(key)
    await ledger.close()
    const paths = [await makeWorkFolder(context.stateDir, job.id), partPath(output, job.id)] as const
    await writeFile(paths[1], '')
    return paths
  }
  const running = await claimed('running', process.pid)
  const killed = await claimed('killed', Number(spawnSync('true').pid))
  await clearStale(output, 'next', context)
  expect([...running, ...killed].map((path) => existsSync(path))).toEqual([true, true, false, false])
})

it('keeps the work of a job of another ledger, and of a report that is being written, until it is a week old', async () => {
  const { context } = bench.pipeline
  const work = (name: string) => makeWorkFolder(context.stateDir, name)
  const folders = [await work('another'), await work('report-another'), await work('forgotten')]
  const past = new Date(Date.now() - 8 * 24 * 3600 * 1000)
  await utimes(String(folders[2]), past, past)
  await clearStale(bench.folder.file('next.wav'), 'next', context)
  expect(folders.map((path) => existsSync(path))).toEqual([true, true, false])
})

it('leaves the work of the next attempt alone if an attempt that lost its lease ends', async () => {
  const { context } = bench.pipeline
  const planned = { output: bench.folder.file('out.wav'), outputBytes: 0, workBytes: 0 }
  const attempt = async () => {
    const workbench = await openWorkbench(planned, 'job', context)
    await workbench.prepare()
    await writeFile(`${workbench.workFolder}/voice-0.flac`, '')
    return workbench
  }
  const lost = await attempt()
  const next = await attempt()
  await lost.close()
  expect(await readdir(next.workFolder)).toEqual(['voice-0.flac'])
  await next.close()
  expect(await readdir(bench.folder.file('state/work'))).toEqual([])
})
