import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ServiceProcess } from '../../helpers/service-process.js'
import { until } from '../../helpers/until.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'
import { type Agent, describeWithMcp, endOfJob, startAgent } from './mcp-bench.js'

/** Servers that are killed: a few here, and 200 in the soak. */
const KILLS = Array.from({ length: process.env.VOXMUX_SOAK ? 200 : 2 }, (_, number) => number)

/** Seconds of the fixture. */
const VOICE_SEC = 3

const CREDITS_SEC = 10 * VOICE_SEC * KILLS.length

/** Two starts of the server and a job: a loaded machine needs room. */
const TIMEOUT_MS = 180_000

interface Seen {
  readonly stage: string | null
  readonly isEnded: boolean
}

/** When the server is killed: at once, while the service has the voice, or in the first stage. */
const MOMENTS: readonly ((seen: Seen) => boolean)[] = [
  () => true,
  ({ stage, isEnded }) => stage === 'process' || isEnded,
  ({ stage, isEnded }) => stage !== null || isEnded,
]

describeWithMcp('a server that is killed', () => {
  let shop: Workshop
  let service: ServiceProcess
  let agent: Agent
  const questions: string[] = []

  /** Declines the very first question. */
  const person = (question: string) => (questions.push(question) === 1 ? ('decline' as const) : ('accept' as const))
  const start = () =>
    startAgent({ cwd: shop.dir, env: { ...shop.env, ...service.env }, args: ['--root', shop.dir], person })

  beforeAll(async () => {
    shop = openWorkshop()
    service = await ServiceProcess.start(shop.dir)
    await service.setCredits(CREDITS_SEC)
    agent = await start()
  })
  afterAll(async () => {
    await agent.client.close()
    await service.kill()
    shop.remove()
  })

  it('asks the person before it spends anything', async () => {
    const input = shop.take('speech.wav')
    const { plan, cost } = (await agent.call('plan', { input })).structuredContent
    expect(cost).toMatchObject({ isFree: false, paidSec: VOICE_SEC })
    const declined = (await agent.call('run', { input, plan })).structuredContent
    expect(declined.error.code).toBe('ERR_PLAN_DECLINED')
    expect(questions).toEqual([expect.stringContaining(`charges 0:0${VOICE_SEC}.000 of voice`)])
  })

  it.each(KILLS)(
    'has its job again after kill %i',
    async (number) => {
      const input = takeVoice(shop, number)
      const { plan } = (await agent.call('plan', { input })).structuredContent
      const { job } = (await agent.call('run', { input, plan })).structuredContent
      const isReached = MOMENTS[number % MOMENTS.length] as (typeof MOMENTS)[number]
      await until(async () => isReached((await agent.call('status', { job })).structuredContent))
      agent.kill()
      await agent.client.close()
      agent = await start()
      // The client repeats the call whose response it may have lost.
      expect((await agent.call('run', { input, plan })).structuredContent.job).toBe(job)
      const ended = await endOfJob(agent.call, job)
      expect(ended).toMatchObject({ status: 'done', error: null })
      expect((await agent.call('receipt', { output: ended.output })).structuredContent.isUnchanged).toBe(true)
    },
    TIMEOUT_MS,
  )

  it('has paid for each voice once, and asked once for each plan', async () => {
    expect(await service.credits()).toBe(CREDITS_SEC - KILLS.length * VOICE_SEC)
    expect(questions).toHaveLength(1 + KILLS.length)
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
