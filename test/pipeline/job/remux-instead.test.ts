import { appendFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import type { JobHooks } from '../../../src/pipeline/job-hooks.js'
import { jobBench } from '../../helpers/job-bench.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

/** An extension that has the writer of a plan leave out the end of its file. */
const leavingOutTheEnd: JobHooks = {
  name: 'defect',
  afterPlan({ plan: { mux } }) {
    const { writing } = mux
    if (writing.kind !== 'bytes') return undefined
    const { layOut } = writing
    const cut: typeof layOut = async (...sources) => {
      const laid = await layOut(...sources)
      const pieces = [...laid.pieces]
      return { ...laid, pieces: pieces.slice(0, pieces.length / 2) }
    }
    Object.assign(writing, { layOut: cut })
    return undefined
  },
}

/** A film, whose voice comes back at half its level. */
async function film(): Promise<string> {
  bench.answerWith('-af', 'volume=0.5')
  const input = bench.folder.file('film.mp4')
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'aac', input)
  // A box that only the file's own bytes keep.
  await appendFile(input, Buffer.from('\0\0\0\x1cuuid0123456789abcdefNote', 'latin1'))
  return input
}

it('writes a film with ffmpeg whose own bytes fail verification, because its voice is paid for', async () => {
  const request = requestFor(await film())
  const outcome = await runJob(request, bench.pipeline.context, { hooks: [leavingOutTheEnd] })
  expect(outcome.error).toBeNull()
  expect(bench.server.calls.startProcess).toBe(1)
  const { receipt } = outcome
  expect(receipt?.writing?.writer).toBe('remux')
  expect(receipt?.writing?.declined).toEqual([
    { writer: 'iso-bmff', reason: expect.stringContaining('failed verification') },
  ])
  expect(receipt?.losses).toContainEqual(expect.objectContaining({ what: 'uuid' }))
  expect(receipt?.notes.join(' ')).toContain('ffmpeg wrote the output as a new file, because the first one failed')
  const output = await probe(receipt?.output.path ?? '')
  expect(output.streams.map(({ codec }) => codec)).toEqual(['mpeg4', 'aac'])
})

it('fails such a film with --strict, whose new file would lose something', async () => {
  const request = requestFor(await film(), { strict: true })
  const { error } = await runJob(request, bench.pipeline.context, { hooks: [leavingOutTheEnd] })
  expect(error).toMatchObject({ code: 'ERR_VERIFY_FAILED', exitCode: 7 })
})
