import { copyFile, rename, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { queueJob } from '../../../src/pipeline/queue/queue-job.js'
import { planRequestOf, type QueuedFile, queuedRecordOf } from '../../../src/pipeline/queue/queued-file.js'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { type RequestOptions, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

function order(input: string, more: Partial<QueuedFile> = {}, options: RequestOptions = {}): QueuedFile {
  const { settings } = requestFor(input, options)
  return { input, output: `${bench.folder.file('out')}/`, settings, group: 'in', ...more }
}

const queue = (given: QueuedFile) => queueJob(given, bench.pipeline.context)

describe('queueJob', () => {
  it('carries all that a worker of another process needs', async () => {
    const input = await bench.take('speech.wav')
    const segments = [{ startSec: 0, endSec: 1 }]
    const wanted = order(input, { outputStem: 'speech', priority: 3, data: { folder: 'in' } }, { segments })
    const { job, created } = await queue(wanted)
    expect(created).toBe(true)
    expect(job).toMatchObject({ input, group: 'in', priority: 3, preset: 'transparent', status: 'queued' })
    expect(job.inputIdentity?.sha256).toMatch(/^[0-9a-f]{64}$/)
    const read = queuedRecordOf(JSON.parse(JSON.stringify(job)))
    expect(read).toMatchObject({ data: { folder: 'in' }, address: null })
    if (!read) throw new Error('no order')
    expect(planRequestOf(job, read)).toMatchObject({ ...{ input, output: wanted.output, outputStem: 'speech' } })
    expect(planRequestOf(job, read).settings).toEqual(wanted.settings)
  })

  it('knows a file that was touched, and does not read it again when nothing changed', async () => {
    const input = await bench.take('speech.wav')
    const first = await queue(order(input))
    expect(await queue(order(input))).toMatchObject({ created: false, job: { id: first.job.id } })
    const later = new Date(Date.now() + 5000)
    await utimes(input, later, later)
    expect(await queue(order(input))).toMatchObject({ created: false, job: { id: first.job.id } })
  })

  it('runs a failed job again for a new ticket, and not for the same one', async () => {
    const { jobs } = bench.pipeline.context
    const input = await bench.take('speech.wav')
    const wanted = (ticket: string) => queue(order(input, { ticket, isRetry: true }))
    const { job } = await wanted('first')
    const fail = async () => {
      const claim = await jobs.claim(job.key)
      if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
      const error = { code: 'ERR_DISK_FULL', errorCode: null, name: null, message: 'full', remedies: [] } as const
      await jobs.fail(claim.lease, { status: 'failed', error })
    }
    await fail()
    expect((await wanted('first')).job).toMatchObject({ id: job.id, status: 'failed' })
    expect((await wanted('second')).job).toMatchObject({ id: job.id, status: 'queued' })
    await fail()
    expect((await wanted('second')).job.status).toBe('failed')
    expect((await queue(order(input, { ticket: 'third' }))).job.status).toBe('failed')
  })

  it('makes a newer version a new job', async () => {
    const input = await bench.take('speech.wav')
    const first = await queue(order(input))
    await copyFile(fixture('silence.wav'), input)
    const second = await queue(order(input))
    expect(second.created).toBe(true)
    expect(second.job.id).not.toBe(first.job.id)
  })

  it('lets a job that waits follow its file to a new name', async () => {
    const input = await bench.take('speech.wav')
    const first = await queue(order(input, { outputStem: 'speech' }))
    const renamed = bench.folder.file('renamed.wav')
    await rename(input, renamed)
    const second = await queue(order(renamed, { outputStem: 'renamed' }))
    expect(second).toMatchObject({ created: false, job: { id: first.job.id, input: renamed, status: 'queued' } })
    expect(queuedRecordOf(second.job)?.outputStem).toBe('renamed')
    expect(await bench.pipeline.context.jobs.list()).toHaveLength(1)
  })

  it('leaves a finished job of a renamed file as it is', async () => {
    const { jobs } = bench.pipeline.context
    const input = await bench.take('speech.wav')
    const { job } = await queue(order(input))
    const claim = await jobs.claim(job.key)
    if (claim.outcome === 'claimed') await jobs.complete(claim.lease, { status: 'done' })
    const renamed = bench.folder.file('renamed.wav')
    await rename(input, renamed)
    expect(await queue(order(renamed))).toMatchObject({ created: false, job: { id: job.id, status: 'done' } })
  })

  it('makes a copy beside the original a job of its own, once', async () => {
    const input = await bench.take('speech.wav')
    const first = await queue(order(input))
    const copy = bench.folder.file('copy.wav')
    await copyFile(input, copy)
    const second = await queue(order(copy))
    expect(second).toMatchObject({ created: true, job: { input: copy } })
    expect(await queue(order(copy))).toMatchObject({ created: false, job: { id: second.job.id } })
    expect(await queue(order(input))).toMatchObject({ created: false, job: { id: first.job.id } })
  })

  it('does an ended job again where it is forced, with the new order', async () => {
    const { jobs } = bench.pipeline.context
    const input = await bench.take('speech.wav')
    const { job } = await queue(order(input))
    const claim = await jobs.claim(job.key)
    if (claim.outcome === 'claimed') await jobs.complete(claim.lease, { status: 'done' })
    const again = await queue(order(input, {}, { force: true }))
    expect(again).toMatchObject({ created: false, job: { id: job.id, status: 'queued' } })
    expect(queuedRecordOf(again.job)?.settings.force).toBe(true)
  })

  it('goes by the identity that a front end names', async () => {
    const input = await bench.take('speech.wav')
    const first = await queue(order(input, { identity: 'reel 1' }))
    await writeFile(input, 'something else')
    expect(await queue(order(input, { identity: 'reel 1' }))).toMatchObject({ job: { id: first.job.id } })
    expect(await queue(order(input, { identity: 'reel 1', group: 'other' }))).toMatchObject({ created: true })
  })

  it('shows no secret of an address, and gives the worker all of it', async () => {
    const address = 'https://media.example/clip.mov?sig=secret'
    const { job } = await queue(order(address))
    expect(job.input).toBe('https://media.example/clip.mov?[redacted]')
    const read = queuedRecordOf(job)
    expect(read && planRequestOf(job, read).input).toBe(address)
    const signedAnew = await queue(order('https://media.example/clip.mov?sig=another'))
    expect(signedAnew).toMatchObject({ created: false, job: { id: job.id } })
  })

  it('refuses what a worker elsewhere could not find', async () => {
    const input = await bench.take('speech.wav')
    await expect(queue(order(input, { output: 'out/' }))).rejects.toMatchObject({ code: 'ERR_ORDER_RELATIVE' })
    await expect(queue(order('speech.wav'))).rejects.toMatchObject({ code: 'ERR_ORDER_RELATIVE' })
  })

  it('refuses an order that another version wrote', async () => {
    const { job } = await queue(order(await bench.take('speech.wav')))
    const changed = { ...job, state: { order: { version: 2 } } }
    expect(() => queuedRecordOf(changed)).toThrow(/This version of voxmux cannot read/)
    expect(queuedRecordOf({ ...job, state: {} })).toBeNull()
  })
})
