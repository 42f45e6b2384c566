import { mkdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { requireOwnOutputs } from '../../../src/pipeline/plan/own-outputs.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()
const longName = (length: number) => `${'o'.repeat(length - 4)}.wav`

it.each([
  ['too long for its receipt', `${longName(250)}`],
  ['too long in a folder that is still to be made', `new/folder/${longName(250)}`],
  ['too long as a path', `${`${'f'.repeat(200)}/`.repeat(21)}${longName(20)}`],
  ['with a zero byte', 'a\0b.wav'],
  ['of a folder with a zero byte', 'a\0b/'],
])('a name that no file can have is refused before anything is paid: %s', async (_, output) => {
  const { server, folder, pipeline } = bench
  const { event } = await runJob(
    requestFor(await bench.take('speech.wav'), { output: folder.file(output) }),
    pipeline.context,
  )
  expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_NAME' } })
  expect(server.calls.registerFile).toBe(0)
})

it.each(['.voxmux.json', '.voxmux.html', '.c2pa'])(
  'so is one beside which a folder is in the way: %s',
  async (suffix) => {
    const { server, folder, pipeline } = bench
    const output = folder.file('out.wav')
    await mkdir(`${output}${suffix}`)
    const { event } = await runJob(requestFor(await bench.take('speech.wav'), { output }), pipeline.context)
    expect(event).toMatchObject({ error: { code: 'ERR_OUTPUT_NAME', message: expect.stringContaining('is a folder') } })
    expect(server.calls.registerFile).toBe(0)
  },
)

it('so is a folder so deep that the hidden names of its parts are too long', async () => {
  const { server, folder, pipeline } = bench
  const [deep, most] = [folder.file('d'), 4040]
  const rest = most - Buffer.byteLength(deep)
  const path = `${deep}${`/${'f'.repeat(99)}`.repeat(Math.floor(rest / 100) - 1)}/${'f'.repeat(99 + (rest % 100))}`
  await mkdir(path, { recursive: true })
  const request = requestFor(await bench.take('speech.wav'), { output: `${path}/out.wav` })
  const { event } = await runJob(request, pipeline.context)
  expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_UNWRITABLE' } })
  expect(server.calls.registerFile).toBe(0)
})

it('the longest name that leaves room for the receipt is taken', async () => {
  const { folder, pipeline } = bench
  const output = folder.file(`new/${longName(243)}`)
  const { event } = await runJob(requestFor(await bench.take('speech.wav'), { output }), pipeline.context)
  expect(event).toMatchObject({ status: 'done', output, receipt: `${output}.voxmux.json` })
})

it.each([
  ['a\0b.wav', 'ERR_INPUT_MISSING'],
  [longName(300), 'ERR_INPUT_MISSING'],
])('an input whose name no file can have does not exist', async (name, code) => {
  const { event } = await runJob(requestFor(bench.folder.file(name), {}), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'failed', error: { code } })
})

it.each(['http://', 'https://a b/talk.wav', 'https://[::1'])('%s is no address, and fails alone', async (input) => {
  const request = { ...requestFor('', {}), input }
  await requireOwnOutputs([request, requestFor(await bench.take('speech.wav'), {})])
  const { event } = await runJob(request, bench.pipeline.context)
  expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_BAD_ADDRESS' } })
})
