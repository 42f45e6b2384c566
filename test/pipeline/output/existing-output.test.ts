import { copyFile, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { ownReceipt } from '../../../src/pipeline/output/existing-output.js'
import { receiptPath } from '../../../src/pipeline/plan/output-path.js'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { openTestPipeline, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

/** Changes one bit near the end, and neither the length nor the time. */
async function flip(path: string): Promise<void> {
  const { atime, mtime } = await stat(path)
  const bytes = await readFile(path)
  const at = bytes.length - 100
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  await writeFile(path, bytes)
  await utimes(path, atime, mtime)
}

async function finished() {
  const input = await bench.take('speech.wav')
  const { event } = await runJob(requestFor(input), bench.pipeline.context)
  return { input, output: event.output ?? '' }
}

/** A run by a process whose ledger has none of it, so that only the receipt can tell. */
async function runWithoutLedger(input: string, more: { readonly supersede?: boolean } = {}) {
  const fresh = await openTestPipeline(bench.server, bench.folder.file('other-state'))
  const { event } = await runJob({ ...requestFor(input), ...more }, fresh.context)
  await fresh.close()
  return event
}

const REFUSED = { status: 'failed', error: { code: 'ERR_OUTPUT_EXISTS' } }

it('an output is known by ledger or receipt, and compared by its content if length and time say nothing', async () => {
  const { input, output } = await finished()
  const { context } = bench.pipeline
  expect((await ownReceipt(output))?.output.path).toBe(output)
  expect(await runWithoutLedger(input)).toMatchObject({ status: 'skipped', output })

  // Without a receipt, the ledger knows it and writes the receipt again.
  await rm(receiptPath(output))
  expect((await runJob(requestFor(output), context)).event).toMatchObject({ status: 'skipped', output })
  expect((await ownReceipt(output))?.output.path).toBe(output)

  await flip(input)
  expect(await runWithoutLedger(input)).toMatchObject(REFUSED)
  await flip(input)
  expect(await runWithoutLedger(input)).toMatchObject({ status: 'skipped', output })

  await flip(output)
  expect(await ownReceipt(output)).toBeUndefined()
  expect(await runWithoutLedger(input)).toMatchObject(REFUSED)
  expect(await runWithoutLedger(input, { supersede: true })).toMatchObject(REFUSED)
  // The ledger knows the time of the output as well, and asks for its content if that differs.
  await utimes(output, 1, 1)
  expect((await runJob(requestFor(input), context)).event).toMatchObject(REFUSED)
  expect(bench.server.charges).toBe(1)
})

it('the refusal of an existing output says how voxmux made it, unless it has changed since', async () => {
  const { input, output } = await finished()
  const { context } = bench.pipeline
  const message = async (request: Parameters<typeof runJob>[0]) => (await runJob(request, context)).event.error?.message
  expect(await message(requestFor(input, { recipe: { mix: 50 } }))).toBe(
    `${output} already exists. voxmux made it from this input with other settings or another account (preset "transparent"), and does not replace files unasked.`,
  )
  const other = await bench.take('field-recorder.wav')
  expect(await message(requestFor(other, { output }))).toContain(`voxmux made it from ${input}, and does not`)
  await copyFile(other, input)
  expect(await message(requestFor(input))).toContain('voxmux made it from an earlier version of this input, and')
  await flip(output)
  expect(await message(requestFor(input))).toContain('already exists, and voxmux does not replace')
})

it('an empty file is replaced if the ledger says that a killed attempt took the name, and only then', async () => {
  const { input, output } = await finished()
  await rm(receiptPath(output))
  await truncate(output)
  expect(await runWithoutLedger(input)).toMatchObject(REFUSED)
  const { event } = await runJob(requestFor(input), bench.pipeline.context)
  expect(event).toMatchObject({ status: 'done', output })
  expect((await stat(output)).size).toBeGreaterThan(0)
  expect(bench.server.charges).toBe(1)
})

it('an older output that a person edits while the newer one is made stays as it is', async () => {
  const input = await bench.take('speech.wav')
  const output = bench.folder.file('speech.regen.wav')
  await runJob(requestFor(input), bench.pipeline.context)
  await copyFile(fixture('field-recorder.wav'), input)
  bench.server.behaviour.regenerate = async (path) => {
    await writeFile(output, 'edited by a person')
    return readFile(path)
  }
  const { event } = await runJob({ ...requestFor(input), supersede: true }, bench.pipeline.context)
  expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_EXISTS' } })
  expect(await readFile(output, 'utf8')).toBe('edited by a person')
  // Under another name, or after that one was moved away, it costs nothing more.
  const { charges } = bench.server
  await rm(output)
  const again = await runJob({ ...requestFor(input), supersede: true }, bench.pipeline.context)
  expect([again.event.status, bench.server.charges]).toEqual(['done', charges])
})
