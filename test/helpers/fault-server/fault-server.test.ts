import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import { VoxmuxClient } from '../../../src/client/index.js'
import { errorOf, test } from '../../client/harness.js'
import { FaultServer } from '../fault-server.js'

describe('the fault server', () => {
  test('regenerates as it is told', async ({ server, client, file, dir }) => {
    const { path } = await file(100)
    server.behaviour.regenerate = (_, { clientFileId, options }) =>
      Buffer.from(`\0${clientFileId} as ${options.output_type}`)
    const { file_id } = await client.registerAndUpload({ clientFileId: 'clip' }, path)
    await client.startOnce(file_id, { output_type: 'ogg' })
    await client.waitFor(file_id)
    expect(await client.download(file_id, `${dir}/out`)).toMatchObject({ bytes: '\0clip as ogg'.length })
  })

  test('fails as often as it is told, in the order it was told', async ({ server, connect }) => {
    const client = connect({ retry: { limit: 0 } })
    server.fail('ping', { kind: 'status', status: 503 }, 2)
    server.fail('ping', { kind: 'garbage' })
    const codes = []
    for (let turn = 0; turn < 3; turn++) codes.push((await errorOf(client.ping())).code)
    expect(codes).toEqual(['ERR_SERVICE_BUSY', 'ERR_SERVICE_BUSY', 'ERR_BAD_ANSWER'])
    expect(await client.ping()).toEqual({ status: 'ok' })
    expect(server.calls.ping).toBe(4)
  })

  test('refuses a chunked PUT as blob storage does, and does not forget it', async ({ file }) => {
    const server = await FaultServer.start()
    const client = new VoxmuxClient(server.clientOptions)
    onTestFinished(() => client.close())
    const { file_upload_link: link } = await client.registerFile({ clientFileId: 'a' })
    expect((await file(1)).content).toHaveLength(1)
    const put = request(link, {
      method: 'PUT',
      headers: {
        'transfer-encoding': 'chunked',
        'content-type': 'application/octet-stream',
        authorization: 'Bearer x',
      },
    })
    put.end('bytes')
    const [response] = await once(put, 'response')
    response.resume()
    expect(response.statusCode).toBe(400)
    expect((await errorOf(server.close())).message).toMatch(/a bearer was sent to storage.*without content-length/)
  })

  test('runs as a process of its own', async () => {
    const main = fileURLToPath(new URL('./fault-server-main.ts', import.meta.url))
    const faults = [{ operation: 'ping', fault: { kind: 'status', status: 503 } }]
    const child = spawn(process.execPath, ['--import', 'tsx', main, JSON.stringify(faults)], { stdio: 'pipe' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = await once(child.stdout, 'data')
    const env = JSON.parse(String(line)) as Record<string, string>
    expect(Object.keys(env)).toHaveLength(6)
    const at = (path: string, init?: RequestInit) => fetch(`${env.VOXMUX_BASE_URL}${path}`, init)
    expect((await at('/api/v1/service-health/ping')).status).toBe(503)
    await at('/__fault', { method: 'POST', body: JSON.stringify({ operation: 'ping', fault: { kind: 'garbage' } }) })
    expect(await (await at('/api/v1/service-health/ping')).text()).toContain('<html>')
    expect(await (await at('/__fault')).json()).toMatchObject({ calls: { ping: 2 }, charges: 0, violations: [] })
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
