import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { testFolder } from '../../helpers/media-factory.js'
import { type MacVolumeTrait, mountMacVolume, NO_MAC_VOLUME } from '../../helpers/system/mac-volume.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

/** A volume of the test's own. */
async function volume(...traits: readonly MacVolumeTrait[]): Promise<string> {
  const { path, remove } = await testFolder()
  const unmount = await mountMacVolume(path, ...traits)
  onTestFinished(() => unmount().then(remove))
  return path
}

const title = `a volume with the names of macOS${NO_MAC_VOLUME ? ` (skipped: ${NO_MAC_VOLUME})` : ''}`

describe.skipIf(NO_MAC_VOLUME !== null)(title, () => {
  it('has one file under each spelling: it is paid for once, known as an output, and never replaced', async () => {
    const at = await volume('nfd')
    const input = join(at, 'Caf\u00e9.wav')
    await copyFile(fixture('speech.wav'), input)
    const { event, receipt } = await runJob(requestFor(input), bench.pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
    expect(receipt?.publish).toBe('link')

    for (const again of ['CAFE\u0301.WAV', 'cafe\u0301.regen.wav', 'CAF\u00c9.REGEN.wav']) {
      const { event: second } = await runJob(requestFor(join(at, again)), bench.pipeline.context)
      expect([again, second.status, second.error]).toEqual([again, 'skipped', null])
    }
    const over = requestFor(input, { output: join(at, 'CAFE\u0301.wav'), force: true })
    const { event: refused } = await runJob(over, bench.pipeline.context)
    expect(refused.error?.code).toBe('ERR_OUTPUT_IS_INPUT')
    expect(await readFile(input)).toEqual(await readFile(fixture('speech.wav')))
    expect(bench.server.charges).toBe(1)
    expect((await readdir(at)).map((name) => name.normalize('NFC')).sort()).toEqual([
      'Caf\u00e9.regen.wav',
      'Caf\u00e9.regen.wav.voxmux.json',
      'Caf\u00e9.wav',
    ])
  })

  it('pays for one of two inputs whose outputs are one file there', async () => {
    const at = await volume()
    const inputs = [bench.folder.file('one/CLIP \u00c9.wav'), bench.folder.file('two/clip e\u0301.wav')]
    for (const [index, input] of inputs.entries()) {
      await mkdir(dirname(input))
      await copyFile(fixture(index === 0 ? 'speech.wav' : 'field-recorder.wav'), input)
    }
    const requests = inputs.map((input) => requestFor(input, { output: `${at}/` }))
    const outcomes = await Promise.all(requests.map((request) => runJob(request, bench.pipeline.context)))
    expect(outcomes.map(({ event }) => event.status).sort()).toEqual(['done', 'failed'])
    expect(outcomes.find(({ error }) => error)?.error?.code).toMatch(/ERR_OUTPUT_(SHARED|EXISTS)/)
    expect(bench.server.charges).toBe(1)
  })

  it('takes its longest names and colons, and without hard links it replaces nothing either', async () => {
    const at = await volume('nfd', 'nolink')
    // 244 units of UTF-16 as written, and 364 bytes as listed.
    await copyFile(fixture('speech.wav'), join(at, `${'\u00e9'.repeat(120)}.wav`))
    const [listed = ''] = await readdir(at)
    const { event: long } = await runJob(requestFor(join(at, listed)), bench.pipeline.context)
    expect(long).toMatchObject({ status: 'done', error: null })

    const input = join(at, 'Take 1: E\u0301.wav')
    await copyFile(fixture('speech.wav'), input)
    await writeFile(join(at, 'take 1: \u00e9.REGEN.wav'), 'of another')
    const { event: taken } = await runJob(requestFor(input), bench.pipeline.context)
    expect(taken.error?.code).toBe('ERR_OUTPUT_EXISTS')
    expect(await readFile(join(at, 'take 1: \u00e9.regen.wav'), 'utf8')).toBe('of another')
    const forced = await runJob(requestFor(input, { output: join(at, 'B: \u00e9.wav') }), bench.pipeline.context)
    expect(forced.receipt?.publish).toBe('rename')
  })
})
