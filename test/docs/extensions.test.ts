import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startExtensions } from '../../src/extensions/start-extensions.js'
import { runJobs } from '../../src/pipeline/job/run-jobs.js'
import { configOf, strangersFolder } from '../extensions/extension-folder.js'
import { jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'

const page = readFileSync(fileURLToPath(new URL('../../docs/extensions.md', import.meta.url)), 'utf8')

/** A block of the page, as it stands there. */
function block(language: string): string {
  const text = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1]
  if (text === undefined) throw new Error(`docs/extensions.md has no ${language} block`)
  return text
}

describe('docs/extensions.md', () => {
  const bench = jobBench()

  it('has an extension of about thirty lines that does what the page says', async () => {
    const extension = block('js')
    expect(extension.trimEnd().split('\n').length).toBeLessThanOrEqual(36)
    const folder = strangersFolder({ 'budget.mjs': extension })
    const list = join(folder, 'finished.csv')
    const config = block('json').replace('/var/log/finished.csv', list).replace('600', '5')
    const named = strangersFolder({ 'config.json': config.replace('./budget.mjs', join(folder, 'budget.mjs')) })
    const running = await startExtensions(await configOf(named))
    const inputs = [await bench.take('interview.mp4'), await bench.take('speech.wav')]
    const outcomes = await runJobs(
      inputs.map((input) => requestFor(input)),
      { ...bench.pipeline.context, hooks: running.hooks },
      { concurrency: 1 },
    )
    await running.stop()
    const [film, speech] = outcomes
    expect(film?.error).toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(/"budget" refused .*: it takes \d+ s, more than 5$/),
    })
    expect(speech?.event.status).toBe('done')
    const { sha256 } = speech?.receipt?.output ?? {}
    expect(readFileSync(list, 'utf8')).toMatch(new RegExp(`^\\S+Z,${speech?.event.output},${sha256}\\n$`))
  })
})
