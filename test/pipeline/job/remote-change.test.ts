import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()
let site: Server
let address: string
let file: Buffer
let methods: (string | undefined)[]
/** The server answers requests for the length. */
let tells: boolean

beforeEach(async () => {
  file = await readFile(fixture('speech.wav'))
  methods = []
  tells = true
  site = createServer((request, response) => {
    methods.push(request.method)
    if (request.method === 'HEAD' && !tells) return response.writeHead(405).end()
    return response.writeHead(200, { 'content-length': file.length }).end(request.method === 'HEAD' ? '' : file)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/get/speech.wav`
})
afterEach(() => new Promise((resolve) => site.close(resolve)))

const run = async (query: string, output: string) => {
  const request = { ...requestFor('unused'), input: `${address}?${query}`, output: bench.folder.file(output) }
  return runJob({ ...request, cwd: bench.folder.path, remote: true }, bench.pipeline.context)
}

it('--remote refuses the earlier result if the file at the address has another length', async () => {
  expect((await run('id=1', 'one.wav')).event).toMatchObject({ status: 'done' })
  // Only the service fetches the file: a link may be good for one download.
  expect(methods).toEqual(['HEAD', 'GET'])
  expect((await run('id=1', 'two.wav')).event).toMatchObject({ status: 'done' })
  expect((await run('id=1', 'one.wav')).event).toMatchObject({ status: 'skipped' })

  file = await readFile(fixture('field-recorder.wav'))
  for (const output of ['one.wav', 'three.wav']) {
    const { event, error } = await run('id=1', output)
    expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_INPUT_CHANGED' } })
    expect(error?.message).toMatch(/has \d+ bytes, and had \d+ when the service fetched it/)
  }
  expect(bench.server.charges).toBe(1)
  // Another file of the same path is compared with nothing.
  expect((await run('id=2', 'other.wav')).event).toMatchObject({ status: 'done' })
  expect((await run('id=2', 'again.wav')).event).toMatchObject({ status: 'done' })
  expect(bench.server.charges).toBe(2)
})

it('--remote goes on as before if the server does not tell the length', async () => {
  expect((await run('id=1', 'one.wav')).event).toMatchObject({ status: 'done' })
  tells = false
  file = await readFile(fixture('field-recorder.wav'))
  const { event, receipt } = await run('id=1', 'two.wav')
  expect(event).toMatchObject({ status: 'done' })
  expect(receipt?.notes.join()).toMatch(/regenerated before/)
  expect(bench.server.charges).toBe(1)
})
