import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../helpers/until.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'
import { type HeldService, heldService } from './held-service.js'
import { type KillableAgent, startKillableAgent } from './killable-agent.js'
import { describeWithMcp, endOfJob } from './mcp-bench.js'

/** Kills: a few here, and 200 in the soak. Each second one hits the client instead of its server. */
const KILLS = Array.from({ length: process.env.VOXMUX_SOAK ? 200 : 2 }, (_, number) => number)

/** Seconds of the fixture. */
const VOICE_SEC = 3

const CREDITS_SEC = 10 * VOICE_SEC * KILLS.length

/** Two starts of the server and a job: a loaded machine needs room. */
const TIMEOUT_MS = 180_000

type Seen = { readonly stage: string | null; readonly isEnded: boolean }

/** When the kill comes: at once, while the service has the voice, or in the first stage. */
const MOMENTS: readonly ((seen: Seen) => boolean)[] = [
  () => true,
  ({ stage }) => stage === 'process',
  ({ stage, isEnded }) => stage !== null || isEnded,
]

describeWithMcp('jobs that cost', () => {
  let shop: Workshop
  let service: HeldService
  let agent: KillableAgent
  const questions: string[] = []
  /** Voices that must be paid for, and plans about which the person must be asked. */
  let voices = 0
  let plans = 0

  /** Declines the very first question. */
  const person = (question: string) => (questions.push(question) === 1 ? ('decline' as const) : ('accept' as const))
  const start = () =>
    startKillableAgent({ cwd: shop.dir, env: { ...shop.env, ...service.env }, args: ['--root', shop.dir], person })
  const call = async (name: string, args: object) => (await agent.tool(name, args)).structuredContent
  const planOf = async (input: string) => {
    plans += 1
    return call('plan', { input })
  }
  const spentSec = async () => CREDITS_SEC - ((await service.credits()) ?? Number.NaN)

  beforeAll(async () => {
    shop = openWorkshop()
    service = await heldService(join(shop.dir, '../service'), CREDITS_SEC)
    agent = await start()
  })
  afterAll(async () => {
    await agent.close()
    await service.close()
    shop.remove()
  })

  it('ask the person before they spend anything', async () => {
    const input = shop.take('speech.wav')
    const { plan, cost } = await planOf(input)
    expect(cost).toMatchObject({ isFree: false, paidSec: VOICE_SEC })
    expect((await call('run', { input, plan })).error.code).toBe('ERR_PLAN_DECLINED')
    expect(questions).toEqual([expect.stringContaining(`charges at most 0:0${VOICE_SEC}.000 of voice`)])
  })

  it.each(KILLS)(
    'are there again after kill %i',
    async (number) => {
      const input = takeVoice(shop, number)
      const moment = number % MOMENTS.length
      if (moment === 1) service.hold()
      const { plan } = await planOf(input)
      const { job } = await call('run', { input, plan })
      voices += 1
      await until(async () => MOMENTS[moment]?.(await call('status', { job })) === true)
      agent.kill(number % 2 === 0 ? 'server' : 'client')
      await agent.close()
      service.release()
      agent = await start()
      // The client repeats the call whose response it may have lost.
      expect((await call('run', { input, plan })).job).toBe(job)
      const ended = await endOfJob(agent.tool, job)
      expect(ended).toMatchObject({ status: 'done', error: null })
      expect((await call('receipt', { output: ended.output })).isUnchanged).toBe(true)
    },
    TIMEOUT_MS,
  )

  it(
    'end when their task is cancelled, also after a kill, and a new plan continues them',
    async () => {
      const input = takeVoice(shop, KILLS.length)
      const before = shop.inventory()
      service.hold()
      const { plan } = await planOf(input)
      const { task } = await agent.runTask({ input, plan })
      voices += 1
      await until(async () => (await call('status', { job: task.taskId })).stage === 'process')
      const cancelled = { taskId: task.taskId, status: 'cancelled' }
      expect(await agent.cancelTask(task.taskId)).toMatchObject(cancelled)
      await expect(agent.cancelTask(task.taskId)).rejects.toThrow('terminal status: cancelled')
      // The service finishes what it was paid for.
      service.release()
      agent.kill('server')
      await agent.close()
      agent = await start()
      expect(await agent.getTask(task.taskId)).toMatchObject(cancelled)
      expect((await agent.getTaskResult(task.taskId)).structuredContent).toMatchObject({
        ...{ job: task.taskId, status: 'cancelled', isEnded: true },
        error: { code: 'ERR_JOB_CANCELLED', remedies: [expect.any(String)] },
      })
      // A call that was repeated does not continue it.
      expect(await call('run', { input, plan })).toMatchObject({ job: task.taskId, status: 'cancelled' })
      expect(shop.inventory()).toEqual(before)
      const again = await call('run', { input, plan: (await planOf(input)).plan })
      expect(await endOfJob(agent.tool, again.job)).toMatchObject({ job: task.taskId, status: 'done', error: null })
    },
    TIMEOUT_MS,
  )

  it('have paid for each voice once, and asked once for each plan', async () => {
    expect(await spentSec()).toBe(voices * VOICE_SEC)
    expect(questions).toHaveLength(plans)
  })
})

/** A voice of its own, so that none comes from the cache: the fixture with its first sample changed. */
function takeVoice(shop: Workshop, number: number): string {
  const path = shop.take('speech.wav', `voice-${number}.wav`)
  const bytes = readFileSync(path)
  bytes.writeInt16LE(number + 1, bytes.indexOf('data') + 8)
  writeFileSync(path, bytes)
  return path
}
