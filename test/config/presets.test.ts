import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadPreset, presetNames } from '../../src/config/load-preset.js'
import { QC_RULES } from '../../src/pipeline/output/qc-standards.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-presets-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const written = async (name: string, content: string) => {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

describe('the presets that voxmux brings', async () => {
  it('are at least the promised ones', async () => {
    const promised = ['transparent', 'podcast', 'broadcast-ebu-r128', 'web-video', 'prores-master']
    expect(await presetNames()).toEqual(expect.arrayContaining(promised))
  })

  it.each(await presetNames())('%s is valid and says what it is for', async (name) => {
    const { preset } = await loadPreset(name)
    expect(preset.description).toMatch(/^[A-Z].{20,}\.$/)
  })

  it('transparent decides nothing but to change nothing', async () => {
    const { preset } = await loadPreset('transparent')
    expect(Object.keys(preset)).toEqual(['description'])
  })

  it.each([
    ['broadcast-ebu-r128', 'ebu-r128'],
    ['podcast', 'apple-podcasts'],
  ] as const)('%s aims at the standard that it certifies', async (name, standard) => {
    const { qc, loudness } = (await loadPreset(name)).preset
    expect(qc).toBe(standard)
    const limitOf = (figure: string) => QC_RULES[standard].rules.find((rule) => rule.figure === figure)
    const [from, to] = [limitOf('integratedLufs')?.from, limitOf('integratedLufs')?.to]
    expect(loudness?.targetLufs).toBe(((from ?? 0) + (to ?? 0)) / 2)
    expect(loudness?.truePeakDbtp).toBe(limitOf('truePeakDbtp')?.to)
  })
})

describe('loadPreset', () => {
  it('reads a preset by its path', async () => {
    const path = await written('mine.json', '{"description":"Mine.","track":"lang:eng","loudness":null}')
    expect(await loadPreset(path)).toEqual({
      name: 'mine',
      path,
      preset: { description: 'Mine.', track: 'lang:eng', loudness: null },
    })
    expect((await loadPreset('./mine.json', folder)).path).toBe(path)
  })

  it('names the nearest preset', async () => {
    await expect(loadPreset('podcst')).rejects.toMatchObject({
      code: 'ERR_PRESET_UNKNOWN',
      exitCode: 2,
      message: 'The preset "podcst" does not exist; did you mean "podcast"?',
    })
  })

  it.each([
    [
      '{"description":"x","segments":{"handelSec":1}}',
      'unknown key "segments.handelSec" (did you mean "segments.handleSec"?)',
    ],
    ['{"description":"x","handleSec":1}', 'unknown key "handleSec" (did you mean "segments.handleSec"?)'],
    ['{"description":"x","chanels":"each"}', 'unknown key "chanels" (did you mean "channels"?)'],
    ['{"description":"x","channels":"all"}', '"channels" must be one of "auto", "center", "each", "downmix"'],
    ['{"description":"x","track":"first"}', '"track" must be "only", "all", "default", a number counted from 0'],
    ['{"description":"x","loudness":{"targetLufs":3}}', '"loudness.targetLufs" must be at most -5'],
    ['{"description":"x","keepOriginal":"yes"}', '"keepOriginal" must be true or false'],
    ['{}', '"description" is missing'],
    ['{"description":"x",}', 'is not valid JSON (line 1)'],
  ])('says what is wrong in %s', async (content, message) => {
    const path = await written('wrong.json', content)
    await expect(loadPreset(path)).rejects.toThrow(message)
  })

  it('tells every problem at once', async () => {
    const path = await written('wrong.json', '{"verify":"quick","voice":{"modle":"a"},"yyy":1,"zzz":1}')
    const error = await loadPreset(path).catch((thrown: Error) => thrown)
    expect(String(error)).toMatch(/"voice.model".*"verify" must be one of.*"description" is missing/)
    expect(String(error)).toContain('unknown key "yyy"; unknown key "zzz" (known here: voice')
  })

  it('says when there is no such file', async () => {
    await expect(loadPreset('./none.json', folder)).rejects.toMatchObject({ code: 'ERR_CONFIG_MISSING', exitCode: 2 })
  })
})
