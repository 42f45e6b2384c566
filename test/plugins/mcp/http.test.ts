import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCliInProcess } from '../../helpers/command-in-process.js'
import { type RunningCli, runCli, startCli } from '../../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'
import { callerOf, clientSdk, describeWithMcp, endOfJob, newClient } from './mcp-bench.js'
import { addToken, conformance, inspect, MCP_TOOLS } from './official-tools.js'

describeWithMcp('voxmux mcp --http', () => {
  let shop: Workshop
  let server: RunningCli
  let url: string
  let token: string

  beforeAll(async () => {
    shop = openWorkshop()
    server = startCli(['mcp', '--http', '--root', shop.dir, '--json'], { cwd: shop.dir, env: shop.env })
    await server.until(/"listening".*\n/)
    const [line = ''] = server
      .said()
      .split('\n')
      .filter((text) => text.includes('"listening"'))
    const listening = JSON.parse(line)
    url = listening.url
    token = listening.token
  })
  afterAll(async () => {
    server.child.kill('SIGINT')
    const { exitCode, stdout } = await server.ended
    expect([exitCode, JSON.parse(stdout.trim().split('\n').at(-1) ?? '')]).toMatchObject([130, { exitCode: 130 }])
    shop.remove()
  })

  const post = (headers: Readonly<Record<string, string>>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        url,
        { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
        (got) => {
          got.resume()
          resolve(got.statusCode)
        },
      )
      sent.on('error', reject).end('{}')
    })

  it('refuses all but programs of this computer that have the token', async () => {
    const authorization = `Bearer ${token}`
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(await post({})).toBe(401)
    expect(await post({ authorization: 'Bearer wrong' })).toBe(401)
    expect(await post({ authorization, origin: 'https://evil.example' })).toBe(403)
    expect(await post({ authorization, host: 'evil.example' })).toBe(403)
    expect(await post({ authorization, 'mcp-session-id': 'gone' })).toBe(404)
    const noRoot = await runCli(['mcp', '--http'], { cwd: shop.dir, env: shop.env })
    expect(noRoot).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--root') })
    for (const flags of [['--port', '8765'], ['--json']]) {
      const onStdio = await runCliInProcess(['mcp', ...flags], { cwd: shop.dir, env: shop.env })
      expect(onStdio).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${flags[0]} needs --http`) })
    }
    const noFolder = await runCli(['mcp', '--root', 'nowhere'], { cwd: shop.dir, env: shop.env })
    expect(noFolder).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('is not a folder') })
  })

  it.skipIf(!MCP_TOOLS)(
    'passes the conformance suite, and answers the inspector',
    async () => {
      const open = await addToken(url, token)
      // A run of no scenario would pass too.
      expect(await conformance(open, shop.dir)).toMatch(/ 7 passed, 26 failed/)
      const { tools } = await inspect(open, 'tools/list')
      expect(tools).toHaveLength(6)
      const input = shop.take('speech.wav', 'inspected.wav')
      const checked = await inspect(open, 'tools/call', '--tool-name', 'check', '--tool-arg', `input=${input}`)
      expect(checked).toMatchObject({ isError: false, structuredContent: { input, status: 'done' } })
    },
    180_000,
  )

  it('serves two clients, each in its own roots and in those of the server', async () => {
    const sdk = await clientSdk()
    const input = shop.take('speech.wav')
    const connect = async (options: Parameters<typeof newClient>[1]) => {
      const client = newClient(sdk, options)
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit }))
      return { client, call: callerOf(client) }
    }
    const [one, other] = [await connect({}), await connect({ roots: () => ['/usr'] })]
    const refused = (await other.call('plan', { input })).structuredContent
    expect(refused.error.code).toBe('ERR_OUTSIDE_ROOTS')
    const { plan } = (await one.call('plan', { input })).structuredContent
    const { job } = (await one.call('run', { input, plan })).structuredContent
    await one.client.close()
    expect(await endOfJob(other.call, job)).toMatchObject({ status: 'done', output: shop.path('speech.regen.wav') })
    await other.client.close()
    // A loaded machine needs room.
  }, 180_000)
})
