import { describe, expect, it, onTestFinished } from 'vitest'
import type { Recipe } from '../../src/config/preset-schema.js'
import { openJobWorker } from '../../src/pipeline/queue/job-worker.js'
import { queueJob } from '../../src/pipeline/queue/queue-job.js'
import { openStageSlots, type StageLimits } from '../../src/pipeline/stage-slots.js'
import { jobBench } from '../helpers/job-bench.js'
import { makeWav } from '../helpers/sound/engine-fixtures.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { until } from '../helpers/until.js'

const bench = jobBench()

/** Queues clips of a voice of their own each. */
async function queue(count: number, group = 'in', priority = 0, recipe: Partial<Recipe> = {}): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const input = bench.folder.file(`${group}-${priority}-${index}.wav`)
    const samples = Math.round(48_000 * (0.3 + index / 50 + priority / 7 + group.length / 3))
    makeWav(
      input,
      Float32Array.from({ length: samples }, (_, at) => 0.3 * Math.sin((at / 48_000) ** 2 * 250 + at / 40)),
    )
    const { settings } = requestFor(input, { recipe })
    await queueJob({ input, output: `${bench.folder.file('out')}/`, settings, group, priority }, bench.pipeline.context)
  }
}

function work(limits: StageLimits, concurrency: number) {
  const slots = openStageSlots({ local: 2, transfers: 2, remote: 100, ...limits })
  const began: string[] = []
  const hooks = [{ name: 'witness', beforePlan: ({ group }: { group: string }) => void began.push(group) }]
  const worker = openJobWorker({ ...bench.pipeline.context, slots }, { concurrency, pollMs: 20, hooks })
  onTestFinished(() => worker.stop())
  worker.start()
  return { worker, began }
}

const done = async () => (await bench.pipeline.context.jobs.list({ statuses: ['done'] })).length

describe('a worker', () => {
  it('lets many jobs wait at the service while two are cut', async () => {
    await queue(3)
    const { states } = bench.server.behaviour
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 1 }]
    const { worker } = work({}, 3)
    await until(() => bench.server.calls.startProcess === 3)
    expect(worker.running).toHaveLength(3)
    bench.server.behaviour.states = states
    await until(async () => (await done()) === 3)
    expect(bench.server.charges).toBe(3)
  })

  it('has no more voices at the service than it may', async () => {
    await queue(4)
    const { states } = bench.server.behaviour
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 1 }]
    const { worker } = work({ remote: 2 }, 4)
    const atStage = (wanted: string) => worker.running.filter(({ stage }) => stage === wanted).length
    await until(() => atStage('process') === 2 && atStage('cut') === 2)
    const polls = bench.server.calls.getFilesStatus
    await until(() => bench.server.calls.getFilesStatus > polls + 5)
    expect(bench.server.calls.registerFile).toBe(2)
    bench.server.behaviour.states = states
    await until(async () => (await done()) === 4)
    expect(bench.server.charges).toBe(4)
  })

  it('serves folders in turn, and what is urgent first', async () => {
    const copy = { mix: 0 }
    await queue(3, 'long', 0, copy)
    await queue(1, 'b', 0, copy)
    await queue(1, 'b', 5, copy)
    const { began } = work({}, 1)
    await until(async () => (await done()) === 5)
    expect(began).toEqual(['b', 'long', 'b', 'long', 'long'])
  })
})
