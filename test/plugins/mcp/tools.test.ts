import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { TOOL_SCHEMAS } from '../../../plugins/mcp/tool-schemas.js'
import { openLedger } from '../../../src/ledger/index.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'
import { type Agent, clientSdk, describeWithMcp, endOfJob, startAgent, type ToolAnswer } from './mcp-bench.js'

const codeOf = ({ isError, structuredContent }: ToolAnswer) => (isError ? structuredContent.error.code : null)

describeWithMcp('the tools over stdio', () => {
  let shop: Workshop
  let agent: Agent
  let roots: readonly string[]

  beforeAll(async () => {
    shop = openWorkshop()
    roots = [shop.dir]
    agent = await startAgent({ cwd: '/', env: shop.env, roots: () => roots })
  })
  afterAll(async () => {
    await agent.client.close()
    shop.remove()
  })

  it('are six, with the JSON Schemas of zod', async () => {
    const { tools } = await agent.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['check', 'plan', 'run', 'status', 'receipt', 'presets'])
    for (const { name, inputSchema } of tools) {
      const schema = TOOL_SCHEMAS[name as keyof typeof TOOL_SCHEMAS]
      expect(inputSchema).toEqual(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
    }
  })

  it('lead from a file to its output: check, plan, run, status, receipt', async () => {
    const input = shop.take('speech.wav')
    const { presets } = (await agent.call('presets')).structuredContent
    expect(presets.map(({ name }: { name: string }) => name)).toContain('podcast')
    expect((await agent.call('presets', { name: 'podcast' })).structuredContent.preset.loudness).toBeDefined()
    expect((await agent.call('check', { input })).structuredContent).toMatchObject({
      input,
      status: 'done',
      error: null,
    })

    const planned = (await agent.call('plan', { input })).structuredContent
    const output = shop.path('speech.regen.wav')
    expect(planned).toMatchObject({ input, output, losses: [], cost: { isFree: true, paidSec: 0, voiceSec: 3 } })
    const started = (await agent.call('run', { input, plan: planned.plan })).structuredContent
    const percents: number[] = []
    const wait = { name: 'status', arguments: { job: started.job, waitSec: 50 } }
    const ended = await agent.client.callTool(wait, undefined, {
      onprogress: ({ progress }) => percents.push(progress),
    })
    expect(ended.structuredContent).toMatchObject({ job: started.job, status: 'done', isEnded: true, output })
    expect(percents.length).toBeGreaterThan(0)
    expect(JSON.parse(ended.content[0]?.text ?? '')).toEqual(ended.structuredContent)

    const proof = (await agent.call('receipt', { output })).structuredContent
    expect(proof).toMatchObject({ output, isUnchanged: true, receipt: { job: started.job } })
    // A client that lost the response asks again with the same token.
    const again = await agent.call('run', { input, plan: planned.plan })
    expect(again.structuredContent).toMatchObject({ job: started.job, status: 'done' })
    const { jobs } = (await agent.call('status')).structuredContent
    expect(jobs.filter(({ input: own }: { input: string }) => own === input)).toHaveLength(1)
  })

  it('run nothing without the token of exactly this plan', async () => {
    const input = shop.take('speech.wav', 'token.wav')
    const { plan } = (await agent.call('plan', { input })).structuredContent
    const refused = async (args: object) => codeOf(await agent.call('run', { input, ...args }))
    expect(await refused({})).toBe('ERR_TOOL_ARGUMENTS')
    expect(await refused({ plan: 'made.up' })).toBe('ERR_PLAN_TOKEN')
    expect(await refused({ plan, mix: 50 })).toBe('ERR_PLAN_TOKEN')
    expect(await refused({ plan, output: shop.path('other.wav') })).toBe('ERR_PLAN_TOKEN')
    utimesSync(input, new Date(), new Date(0))
    const changed = await agent.call('run', { input, plan })
    expect(changed.structuredContent.error).toMatchObject({ code: 'ERR_PLAN_TOKEN', remedies: [expect.any(String)] })
    const { jobs } = (await agent.call('status')).structuredContent
    expect(jobs.filter(({ input: own }: { input: string }) => own === input)).toEqual([])
  })

  it('send nothing of a file that changed while its job waited', async () => {
    const input = shop.take('speech.wav', 'waiting.wav')
    const ledger = await openLedger(join(shop.env.VOXMUX_STATE_DIR ?? '', 'ledger.sqlite'))
    try {
      await ledger.jobs.pause(null, 'test')
      const { plan } = (await agent.call('plan', { input })).structuredContent
      const { job } = (await agent.call('run', { input, plan })).structuredContent
      utimesSync(input, new Date(), new Date(0))
      await ledger.jobs.resume(null)
      const ended = await endOfJob(agent.call, job)
      expect(ended).toMatchObject({ status: 'rejected', error: { code: 'ERR_VETOED' } })
      expect(ended.error.message).toContain('changed after its plan was shown')
    } finally {
      await ledger.close()
    }
  })

  it('write nothing through a folder that became a link while the job waited', async () => {
    const input = shop.take('speech.wav', 'led-away.wav')
    const [folder, outside] = [shop.path('results'), mkdtempSync(join(tmpdir(), 'voxmux-outside-'))]
    onTestFinished(() => rmSync(outside, { recursive: true }))
    mkdirSync(folder)
    const ledger = await openLedger(join(shop.env.VOXMUX_STATE_DIR ?? '', 'ledger.sqlite'))
    onTestFinished(() => ledger.close())
    await ledger.jobs.pause(null, 'test')
    const wish = { input, output: join(folder, 'led-away.wav') }
    const { plan } = (await agent.call('plan', wish)).structuredContent
    const { job } = (await agent.call('run', { ...wish, plan })).structuredContent
    rmSync(folder, { recursive: true })
    symlinkSync(outside, folder)
    await ledger.jobs.resume(null)
    const ended = await endOfJob(agent.call, job)
    expect(ended).toMatchObject({ status: 'rejected', error: { code: 'ERR_VETOED' } })
    expect(ended.error.message).toContain('has become a link to')
    expect(readdirSync(outside)).toEqual([])
  })

  it('say with code and remedies what they refuse', async () => {
    const several = await agent.call('plan', { input: shop.take('two-tracks.mkv') })
    expect(several.structuredContent).toMatchObject({ status: 'failed', error: { errorCode: -8 } })
    expect(several.structuredContent.error.remedies.length).toBeGreaterThan(0)
    expect(codeOf(await agent.call('plan', { input: 'missing.wav' }))).toBe('ERR_INPUT_MISSING')
    expect(codeOf(await agent.call('plan', { input: 'https://example.com/a.wav' }))).toBe('ERR_MCP_ADDRESS')
    const mistyped = (await agent.call('plan', { input: 'a.wav', chanels: 'auto' })).structuredContent
    expect(mistyped.error.message).toContain('did you mean "channels"?')
    expect(codeOf(await agent.call('status', { job: 'none' }))).toBe('ERR_JOB_UNKNOWN')
    await expect(agent.call('nothing')).rejects.toThrow('does not exist')
  })

  it('read and write only below the roots, whatever links say', async () => {
    const outside = openWorkshop()
    try {
      const secret = outside.take('speech.wav')
      symlinkSync(secret, shop.path('link.wav'))
      symlinkSync(outside.dir, shop.path('elsewhere'))
      const input = shop.take('speech.wav', 'rooted.wav')
      writeFileSync(outside.path('mine.json'), '{"description":"mine"}')
      const refused: readonly (readonly [string, object])[] = [
        ['check', { input: secret }],
        ['check', { input: 'link.wav' }],
        ['plan', { input: '../x.wav' }],
        ['plan', { input, output: 'elsewhere/' }],
        ['plan', { input, output: `${outside.dir}/a/b/` }],
        ['plan', { input, preset: outside.path('mine.json') }],
        ['presets', { name: 'elsewhere/mine.json' }],
        ['receipt', { output: secret }],
      ]
      for (const [tool, args] of refused)
        expect([tool, codeOf(await agent.call(tool, args))]).toEqual([tool, 'ERR_OUTSIDE_ROOTS'])
      expect(codeOf(await agent.call('plan', { input: 'rooted.wav', output: 'new/folder/' }))).toBeNull()

      roots = [outside.dir]
      await agent.client.sendRootsListChanged()
      expect(codeOf(await agent.call('check', { input: secret }))).toBeNull()
      expect(codeOf(await agent.call('check', { input }))).toBe('ERR_OUTSIDE_ROOTS')

      roots = []
      await agent.client.sendRootsListChanged()
      expect(codeOf(await agent.call('check', { input }))).toBe('ERR_MCP_ROOTS')
    } finally {
      roots = [shop.dir]
      await agent.client.sendRootsListChanged()
      outside.remove()
    }
  })

  it('replace an output only with force, and only once for one plan', async () => {
    const input = shop.take('speech.wav', 'forced.wav')
    const output = shop.path('forced.regen.wav')
    copyFileSync(input, output)
    expect(codeOf(await agent.call('plan', { input }))).toBe('ERR_OUTPUT_EXISTS')
    const run = async () => {
      const { plan } = (await agent.call('plan', { input, force: true })).structuredContent
      const { job } = (await agent.call('run', { input, force: true, plan })).structuredContent
      const { status } = await endOfJob(agent.call, job)
      return { plan, job, status }
    }
    const first = await run()
    expect(first.status).toBe('done')
    rmSync(output)
    const same = await agent.call('run', { input, force: true, plan: first.plan })
    expect(same.structuredContent).toMatchObject({ job: first.job, isEnded: true })
    expect(existsSync(output)).toBe(false)
    expect(await run()).toMatchObject({ job: first.job, status: 'done' })
    expect(existsSync(output)).toBe(true)
  })

  it('run as a task of the protocol, which is the job', async () => {
    const sdk = await clientSdk()
    const { tasks } = agent.client.experimental
    const input = shop.take('speech.wav', 'task.wav')
    const { plan } = (await agent.call('plan', { input })).structuredContent
    const asTask = (args: object) =>
      agent.client.request(
        { method: 'tools/call', params: { name: 'run', arguments: args, task: {} } },
        sdk.CreateTaskResultSchema,
      )
    await expect(asTask({ input, plan: 'x' })).rejects.toMatchObject({ data: { code: 'ERR_PLAN_TOKEN' } })
    const { task } = await asTask({ input, plan })
    expect(task.status).toBe('working')
    const result = await tasks.getTaskResult(task.taskId, sdk.CallToolResultSchema)
    expect(result.structuredContent).toMatchObject({ job: task.taskId, status: 'done' })
    expect(await tasks.getTask(task.taskId)).toMatchObject({ status: 'completed' })
    await expect(tasks.cancelTask(task.taskId)).rejects.toThrow('terminal status: completed')
    expect((await tasks.listTasks()).tasks.map(({ taskId }) => taskId)).toContain(task.taskId)
  })
})
