import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const run = promisify(execFile)
const MEDIACONCH = ['/usr/bin/mediaconch', '/usr/local/bin/mediaconch'].find(existsSync)

/** Each rule of a policy or of the checker that a file breaks, by MediaConch. */
async function broken(path: string, ...options: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run(MEDIACONCH as string, [...options, '-fx', path])
  const failed = stdout.matchAll(/<(?:rule name|check icid)="([^"]+)"[^>]*(?:outcome="fail"|fail_count="[1-9]\d*")/g)
  return [...failed].map(([, name]) => String(name))
}

it('MediaConch finds nothing wrong in outputs that was not wrong in their inputs', async ({ skip }) => {
  if (MEDIACONCH === undefined) return skip('no mediaconch')
  const policy = bench.folder.file('policy.xml')
  const rule = (name: string, fact: string, value: string) =>
    `<rule name="${name}" value="${fact}" tracktype="Audio" occurrence="*" operator="=">${value}</rule>`
  const rules = [rule('PCM', 'Format', 'PCM'), rule('rate', 'SamplingRate', '48000'), rule('mp3', 'Format', 'MP3')]
  await writeFile(policy, `<?xml version="1.0"?><policy type="and" name="p">${rules.join('')}</policy>`)
  for (const name of ['field-recorder.wav', 'two-tracks.mkv']) {
    const input = await bench.take(name)
    const { event } = await runJob(requestFor(input, { recipe: { track: 0 } }), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    const output = event.output ?? ''
    expect(await broken(output, '-mc'), name).toEqual(await broken(input, '-mc'))
    const byPolicy = await broken(output, '-p', policy)
    expect(byPolicy, name).toEqual(await broken(input, '-p', policy))
    // A policy that a file breaks is seen to be broken.
    expect(byPolicy, name).toContain('mp3')
  }
})
