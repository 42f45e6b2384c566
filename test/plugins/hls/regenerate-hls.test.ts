import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { regenerateHls } from 'voxmux/plugins/hls'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { halveVoice } from './halve-voice.js'
import { makePackage, makeTwoRatePackage, type PackageMaking } from './made-package.js'
import { compareSounds, differingFiles, frameTimes, linesWithoutBytes, soundOf } from './package-facts.js'

const bench = jobBench()

const regenerate = async (input: string, output: string) => {
  const { error } = await runJob(requestFor(input, { output }), bench.pipeline.context).then(({ event }) => event)
  if (error) throw new Error(error.message)
}

/** Halves voices and lists what it was given. */
const halving = () => {
  const given: string[] = []
  return {
    given,
    regenerate: (input: string, output: string) => {
      given.push(input)
      return halveVoice(input, output)
    },
  }
}

describe('an HLS package', () => {
  const kinds: readonly (PackageMaking & { readonly name: string })[] = [
    { name: 'of fragments', type: 'fmp4', durationSec: 5, segmentSec: 2 },
  ]
  const further: typeof kinds = [
    { name: 'of transport streams, a file each', type: 'mpegts', durationSec: 5, segmentSec: 2, flags: 'single_file' },
    { name: 'of transport streams', type: 'mpegts', durationSec: 5, segmentSec: 2 },
    { name: 'of fragments, a file each rendition', type: 'fmp4', durationSec: 5, segmentSec: 2, flags: 'single_file' },
  ]

  it.each(process.env.VOXMUX_SOAK ? [...kinds, ...further] : kinds)(
    '$name keeps all but the sound, which stays at its sample',
    async (making) => {
      const before = await makePackage(bench.folder.file('in'), making)
      bench.answerWith('-af', 'volume=0.5')
      const result = await regenerateHls(before, bench.folder.file('out'), { regenerate })
      const after = bench.folder.file('out/master.m3u8')
      expect(result.master).toBe(after)

      // The picture, the init sections and every playlist of whole files are the same, byte for byte.
      const changed = differingFiles(before, after)
      expect(changed.filter((path) => /^(large|small)\//.test(path))).toEqual([])
      expect(changed.filter((path) => /init_/.test(path))).toEqual([])
      if (making.flags === undefined) expect(changed.every((path) => /^(eng|deu)\/part/.test(path))).toBe(true)

      for (const language of ['eng', 'deu']) {
        const [old, fresh] = [before, after].map((master) => join(dirname(master), language, 'stream.m3u8')) as [
          string,
          string,
        ]
        expect(linesWithoutBytes(fresh)).toEqual(linesWithoutBytes(old))
        expect(await frameTimes(fresh)).toEqual(await frameTimes(old))
        const { lagSamples, gain } = compareSounds(await soundOf(old), await soundOf(fresh))
        expect(lagSamples).toBe(0)
        expect(gain).toBeCloseTo(0.5, 1)
      }
      // Each language once, whatever the number of variants and segments.
      expect(bench.server.charges).toBe(2)
      expect(result.renditions).toMatchObject([
        { path: 'eng/stream.m3u8', language: 'eng' },
        { path: 'deu/stream.m3u8', language: 'deu' },
      ])
      expect(result.files.filter(({ fate }) => fate === 'copied').map(({ path }) => path)).not.toContain(
        'eng/part000.ts',
      )
      expect(JSON.parse(await readFile(result.receipt, 'utf8'))).toMatchObject({ renditions: result.renditions })
      expect((await readdir(bench.folder.path)).filter((name) => name.startsWith('.'))).toEqual([])
    },
  )

  it.each(process.env.VOXMUX_SOAK ? (['fmp4', 'mpegts'] as const) : (['mpegts'] as const))(
    'with one sound at two bit rates (%s) regenerates it once',
    async (type) => {
      const before = await makeTwoRatePackage(bench.folder.file('in'), type)
      const { given, regenerate } = halving()
      const result = await regenerateHls(before, bench.folder.file('out'), { regenerate })
      expect(given).toHaveLength(1)
      expect(result.renditions.map(({ path, isShared }) => [path, isShared])).toEqual([
        ['high/stream.m3u8', false],
        ['low/stream.m3u8', true],
      ])
      for (const name of ['high', 'low']) {
        const [old, fresh] = ['in', 'out'].map((side) => bench.folder.file(`${side}/${name}/stream.m3u8`)) as [
          string,
          string,
        ]
        expect(await frameTimes(fresh)).toEqual(await frameTimes(old))
        const { lagSamples, gain } = compareSounds(await soundOf(old), await soundOf(fresh))
        expect(lagSamples).toBe(0)
        expect(gain).toBeCloseTo(0.5, 1)
      }
      // Each at the bit rate that it had: a tone does not spend all of it, but the one more than the other.
      const part = type === 'fmp4' ? 'part001.m4s' : 'part001.ts'
      const bytes = async (name: string) => (await readFile(bench.folder.file(`${name}/${part}`))).length
      expect(await bytes('out/low')).toBeLessThan(await bytes('out/high'))
      expect(await bytes('out/low')).toBeLessThan((await bytes('in/low')) * 1.25)
    },
  )

  it('with addTrack keeps every rendition byte for byte, and adds one that players find by its characteristic', async () => {
    const before = await makePackage(bench.folder.file('in'), { type: 'fmp4', durationSec: 3, segmentSec: 1 })
    const { given, regenerate } = halving()
    const result = await regenerateHls(before, bench.folder.file('out'), { regenerate, addTrack: true })
    expect(given).toHaveLength(2)
    const differing = differingFiles(before, result.master).filter((path) => !path.startsWith('clear-dialogue/'))
    expect(differing).toEqual(['master.m3u8'])
    const lines = (await readFile(result.master, 'utf8')).split('\n')
    const media = lines.filter((line) => line.startsWith('#EXT-X-MEDIA:'))
    expect(media).toHaveLength(4)
    expect(media[1]).toMatch(/LANGUAGE="eng",.*CHARACTERISTICS="public.accessibility.enhances-speech-intelligibility"/)
    expect(media[1]).toMatch(/NAME="[^"]+ \(clear dialogue\)",DEFAULT=NO,.*AUTOSELECT=YES/)
    const added = result.files.filter(({ fate }) => fate === 'added').map(({ path }) => path)
    expect(added).toContainEqual(expect.stringMatching(/^clear-dialogue\/eng\/init.*\.mp4$/))
    const [old, fresh] = ['in/eng/stream.m3u8', 'out/clear-dialogue/eng/stream.m3u8'].map(bench.folder.file)
    expect(await frameTimes(fresh as string)).toEqual(await frameTimes(old as string))
    const { lagSamples, gain } = compareSounds(await soundOf(old as string), await soundOf(fresh as string))
    expect(lagSamples).toBe(0)
    expect(gain).toBeCloseTo(0.5, 1)
    // The result as an input: it has all renditions already.
    const again = await regenerateHls(result.master, bench.folder.file('again'), { regenerate, addTrack: true })
    expect([again.renditions, given.length]).toEqual([[], 2])
  })

  it('with a commentary over the same sound regenerates both', async () => {
    const comment = "volume='if(between(t,2.2,3.4),0,1)':eval=frame"
    const before = await makeTwoRatePackage(bench.folder.file('in'), 'mpegts', comment)
    const { given, regenerate } = halving()
    const result = await regenerateHls(before, bench.folder.file('out'), { regenerate })
    expect(result.renditions.map(({ isShared }) => isShared)).toEqual([false, false])
    expect(given).toHaveLength(2)
  })

  it('names its files by ways up that stay in it', async () => {
    const before = await makePackage(bench.folder.file('in'), { type: 'fmp4', durationSec: 2, segmentSec: 1 })
    const playlist = bench.folder.file('in/eng/stream.m3u8')
    await writeFile(playlist, (await readFile(playlist, 'utf8')).replaceAll('part0', '../eng/part0'))
    const result = await regenerateHls(before, bench.folder.file('out'), halving())
    expect(result.files.find(({ path }) => path === 'eng/part000.m4s')?.fate).toBe('regenerated')
    const made = bench.folder.file('out/eng/stream.m3u8')
    expect(await readFile(made, 'utf8')).toContain('../eng/part000.m4s')
    expect(await frameTimes(made)).toEqual(await frameTimes(playlist))
  })

  it('with a discontinuity keeps the clock of each side, and is encoded apart', async () => {
    const [one, two] = [bench.folder.file('one'), bench.folder.file('in')]
    await makePackage(one, { type: 'mpegts', durationSec: 3, segmentSec: 1 })
    const before = await makePackage(two, { type: 'mpegts', durationSec: 4, segmentSec: 2 })
    const playlist = join(two, 'eng/stream.m3u8')
    const first = (await readFile(join(one, 'eng/stream.m3u8'), 'utf8')).replaceAll('part', 'other')
    const second = await readFile(playlist, 'utf8')
    const segments = second.slice(second.indexOf('#EXTINF'))
    await writeFile(playlist, first.replace('#EXT-X-ENDLIST', `#EXT-X-DISCONTINUITY\n${segments}`))
    for (const name of await readdir(join(one, 'eng')))
      await copyFile(
        join(one, 'eng', name),
        join(two, 'eng', name === 'stream.m3u8' ? 'other.m3u8' : name.replace('part', 'other')),
      )
    const { given, regenerate } = halving()
    await regenerateHls(before, bench.folder.file('out'), { regenerate })
    for (const segment of ['other000.ts', 'other002.ts', 'part000.ts', 'part001.ts']) {
      const [old, fresh] = [join(two, 'eng', segment), bench.folder.file(`out/eng/${segment}`)] as const
      expect(await frameTimes(fresh)).toEqual(await frameTimes(old))
      expect(await readFile(fresh)).not.toEqual(await readFile(old))
    }
    // Both sides of it, and the other language.
    expect(given).toHaveLength(3)
  })

  it('is regenerated by one call, with a step for each language', async () => {
    const before = await makePackage(bench.folder.file('in'), { type: 'fmp4', durationSec: 2, segmentSec: 1 })
    onTestFinished(() => void vi.unstubAllEnvs())
    const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('step') }
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const result = await regenerateHls(before, bench.folder.file('out'), { job: { preset: 'transparent' } })
    expect(result.files.find(({ path }) => path === 'eng/part000.m4s')?.fate).toBe('regenerated')
    expect(bench.server.charges).toBe(2)
  })

  it('appears whole or not at all', async () => {
    const before = await makePackage(bench.folder.file('in'), { type: 'mpegts', durationSec: 3, segmentSec: 1 })
    // What a run left that was killed; no system gives a process this number.
    await mkdir(bench.folder.file(`.out.voxmux-${hostname()}-9999999-abc/package`), { recursive: true })
    const failing = () => Promise.reject(new Error('the service is away'))
    await expect(regenerateHls(before, bench.folder.file('out'), { regenerate: failing })).rejects.toThrow('is away')
    expect(existsSync(bench.folder.file('out'))).toBe(false)
    expect((await readdir(bench.folder.path)).filter((name) => name.startsWith('.'))).toEqual([])
    await expect(regenerateHls(before, bench.folder.file('in'), { regenerate })).rejects.toMatchObject({
      code: 'ERR_OUTPUT_EXISTS',
    })
  })

  it('replaces nothing in the place of its receipt but such a receipt', async () => {
    const before = await makePackage(bench.folder.file('in'), { type: 'mpegts', durationSec: 1, segmentSec: 1 })
    const { given, regenerate } = halving()
    const [out, receipt] = [bench.folder.file('out'), bench.folder.file('out.voxmux.json')]
    await writeFile(receipt, '{"of":"somebody else"}')
    await expect(regenerateHls(before, out, { regenerate })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
    expect([given, await readFile(receipt, 'utf8')]).toEqual([[], '{"of":"somebody else"}'])
    await rm(receipt)
    await regenerateHls(before, out, { regenerate })
    await rm(out, { recursive: true })
    expect(await regenerateHls(before, out, { regenerate })).toMatchObject({ receipt })
  })
})
