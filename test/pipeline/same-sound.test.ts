import { chmod, readFile, stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { summary } from '../../src/cli/output/summary.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const SAME = 'The regenerated audio was the same, so the output is a copy of the input.'

describe('a file whose regenerated audio is the same', () => {
  it.each(process.env.VOXMUX_SOAK ? ['interview.mp4', 'speech.mp3', 'gap.mkv', 'speech.opus'] : ['interview.mp4'])(
    'is a copy of %s, with the figures of its voice',
    async (name) => {
      const input = await bench.take(name)
      await chmod(input, 0o444)
      const outcome = await runJob(requestFor(input, { recipe: {} }), bench.pipeline.context)
      expect(outcome.event).toMatchObject({ status: 'done', error: null })
      expect((await readFile(outcome.event.output ?? '')).equals(await readFile(input))).toBe(true)
      // One that cannot be written could not be flushed to disk, after it was paid for.
      expect((await stat(outcome.event.output ?? '')).mode & 0o200).toBe(0o200)
      const { receipt } = outcome
      expect(receipt?.segments).toHaveLength(1)
      expect(receipt?.voices[0]).toMatchObject({ audioIndex: 0, changedSec: 0, removedDb: null })
      expect(receipt?.streams.every(({ fate }) => fate === 'copied')).toBe(true)
      expect(receipt?.notes).toContain(SAME)
      expect(receipt?.notes.join('\n')).not.toContain('re-encoded')
      expect(summary([outcome])).toContain('because the regenerated audio was the same')
    },
  )

  it('is a copy if only parts of it were sent, and its report shows both sides', async () => {
    const input = await bench.take('interview.mp4')
    const segments = [{ startSec: 1, endSec: 3 }]
    const { event, receipt } = await runJob(
      requestFor(input, { recipe: {}, segments, report: true }),
      bench.pipeline.context,
    )
    expect((await readFile(event.output ?? '')).equals(await readFile(input))).toBe(true)
    expect(receipt?.segments).toEqual([{ startSec: 1, endSec: 3 }])
    const page = await readFile(receipt?.report ?? '', 'utf8')
    expect(page.match(/data:audio\/mp4/g)?.length).toBeGreaterThanOrEqual(2)
  })

  it.each([
    ['the voice differs', {}, () => bench.answerWith('-af', 'volume=0.9')],
    ['a loudness target asks for more', { loudness: { targetLufs: -20, truePeakDbtp: -1 } }, () => {}],
    ['the original is kept beside it', { keepOriginal: true }, () => {}],
  ])('is written again if %s', async (_why, recipe, prepare) => {
    prepare()
    const input = await bench.take('interview.mp4')
    const { event, receipt } = await runJob(requestFor(input, { recipe }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.streams.some(({ fate }) => fate === 'replaced')).toBe(true)
    expect(receipt?.notes).not.toContain(SAME)
  })
})
